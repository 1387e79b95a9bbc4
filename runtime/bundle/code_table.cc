#include "runtime/bundle/code_table.h"

#include <bit>
#include <cstring>

#include "runtime/bundle/byte_lists.h"
#include "runtime/bundle/byte_stream.h"
#include "runtime/bundle/format.h"

namespace tunec::bundle {
namespace {

std::unexpected<Error> Damaged() {
  return Fail(ErrorCode::kParse, "the bundle's table of code is damaged");
}

void Write(ByteWriter& out, const ArgumentContract& argument) {
  out.Number(argument.bytes);
  out.Number(argument.alignment);
  out.Byte(argument.written ? 1 : 0);
  out.Byte(argument.range ? 1 : 0);
  if (!argument.range) return;
  out.Byte(static_cast<uint8_t>(argument.range->type));
  out.Number(argument.range->least);
  out.Number(argument.range->most);
}

ArgumentContract ReadArgument(ByteReader& in) {
  ArgumentContract argument{.bytes = in.Size(), .alignment = in.Size()};
  const uint8_t written = in.Byte();
  argument.written = written == 1;
  const uint8_t ranged = in.Byte();
  if (written > 1 || ranged > 1) in.Reject();
  if (!std::has_single_bit(static_cast<uint64_t>(argument.alignment)) || argument.alignment > 64)
    in.Reject();
  if (ranged != 1) return argument;
  const DataType type = ReadType(in);
  if (!IsInteger(type)) in.Reject();
  argument.range = TrustedRange{.type = type, .least = in.Number(), .most = in.Number()};
  return argument;
}

PhaseContract ReadPhase(ByteReader& in) {
  const PhaseContract phase{
      .entry = static_cast<uint64_t>(in.Size()), .tasks = in.Size(), .waves = in.Size()};
  if (phase.waves < 1 || phase.tasks % phase.waves != 0) in.Reject();
  return phase;
}

std::pair<int32_t, int32_t> ReadInPlacePair(ByteReader& in, size_t arguments) {
  const auto read = static_cast<uint64_t>(in.Size());
  const auto written = static_cast<uint64_t>(in.Size());
  if (read >= arguments || written >= arguments || read == written) in.Reject();
  return {static_cast<int32_t>(read), static_cast<int32_t>(written)};
}

KernelContract ReadKernel(ByteReader& in) {
  constexpr size_t kPhaseBytes = 24;
  constexpr size_t kLeastArgumentBytes = 18;
  constexpr size_t kInPlaceBytes = 16;
  KernelContract kernel;
  const size_t phases = in.Count(kPhaseBytes);
  for (size_t i = 0; i < phases && in.ok(); ++i) kernel.phases.push_back(ReadPhase(in));
  kernel.workspace_bytes = in.Size();
  kernel.scratch_bytes = in.Size();
  const size_t arguments = in.Count(kLeastArgumentBytes);
  for (size_t i = 0; i < arguments && in.ok(); ++i) kernel.arguments.push_back(ReadArgument(in));
  const size_t in_place = in.Count(kInPlaceBytes);
  for (size_t i = 0; i < in_place && in.ok(); ++i)
    kernel.in_place.push_back(ReadInPlacePair(in, arguments));
  return kernel;
}

}  // namespace

std::string Serialize(const std::vector<KernelContract>& kernels) {
  ByteWriter out;
  out.Count(kernels.size());
  for (const KernelContract& kernel : kernels) {
    out.Count(kernel.phases.size());
    for (const PhaseContract& phase : kernel.phases) {
      out.Count(phase.entry);
      out.Number(phase.tasks);
      out.Number(phase.waves);
    }
    out.Number(kernel.workspace_bytes);
    out.Number(kernel.scratch_bytes);
    out.Count(kernel.arguments.size());
    for (const ArgumentContract& argument : kernel.arguments) Write(out, argument);
    out.Count(kernel.in_place.size());
    for (const auto& [read, written] : kernel.in_place) {
      out.Number(read);
      out.Number(written);
    }
  }
  return out.bytes();
}

Result<std::vector<KernelContract>> ParseCodeTable(std::span<const std::byte> bytes) {
  constexpr size_t kLeastKernelBytes = 40;
  ByteReader in(bytes);
  std::vector<KernelContract> kernels;
  const size_t count = in.Count(kLeastKernelBytes);
  for (size_t i = 0; i < count && in.ok(); ++i) kernels.push_back(ReadKernel(in));
  if (!in.done()) return Damaged();
  return kernels;
}

std::string CodeSection(const std::vector<KernelContract>& kernels, std::string_view image) {
  const std::string table = Serialize(kernels);
  ByteWriter out;
  out.Count(table.size());
  std::string section = out.bytes() + table;
  section.resize(AlignUp(section.size(), kPage));
  return section.append(image);
}

Result<CodeParts> ParseCodeSection(std::span<const std::byte> section) {
  ByteReader in(section);
  const size_t table_bytes = in.Count(1);
  const size_t image_offset = AlignUp(sizeof(int64_t) + table_bytes, kPage);
  if (!in.ok() || image_offset > section.size()) return Damaged();
  CodeParts parts{.image_offset = image_offset, .image_bytes = section.size() - image_offset};
  TUNEC_ASSIGN(parts.kernels, ParseCodeTable(section.subspan(sizeof(int64_t), table_bytes)));
  for (const KernelContract& kernel : parts.kernels)
    for (const PhaseContract& phase : kernel.phases)
      if (phase.entry >= parts.image_bytes) return Damaged();
  return parts;
}

}  // namespace tunec::bundle
