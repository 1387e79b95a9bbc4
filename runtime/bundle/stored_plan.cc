#include "runtime/bundle/stored_plan.h"

#include "runtime/bundle/byte_lists.h"

namespace tunec::bundle {
namespace {

// Least numbers of bytes in which parts of a plan are stored, for the check of counts (ReadAll).
constexpr size_t kTensorBytes = 17;
constexpr size_t kConstantBytes = 24;
constexpr size_t kStepBytes = 32;
constexpr size_t kRefBytes = 17;
constexpr size_t kCheckBytes = 42;

void WriteTensor(ByteWriter& out, const TensorSpec& spec) {
  out.Text(spec.name);
  out.Byte(static_cast<uint8_t>(spec.type));
  WriteAll(out, spec.shape, [](ByteWriter& to, int64_t size) { to.Number(size); });
}
TensorSpec ReadTensor(ByteReader& in) {
  TensorSpec spec{.name = in.Text(), .type = ReadType(in)};
  spec.shape = ReadAll(in, sizeof(int64_t), [](ByteReader& from) { return from.Size(); });
  return spec;
}

void WriteConstant(ByteWriter& out, const StoredConstant& constant) {
  out.Text(constant.name);
  out.Number(constant.bytes);
  out.Number(constant.offset);
}
StoredConstant ReadConstant(ByteReader& in) {
  return {.name = in.Text(), .bytes = in.Size(), .offset = in.Number()};
}

void WriteRef(ByteWriter& out, const ValueRef& ref) {
  out.Byte(static_cast<uint8_t>(ref.kind));
  out.Number(ref.index);
  out.Number(ref.offset);
}
ValueRef ReadRef(ByteReader& in) {
  const ValueRef::Kind kind = in.Choice(ValueRef::Kind::kArena);
  const int64_t index = in.Size();
  if (index > INT32_MAX) in.Reject();
  return {.kind = kind, .index = static_cast<int32_t>(index), .offset = in.Size()};
}

void WriteStep(ByteWriter& out, const StoredStep& step) {
  out.Text(step.name);
  out.Number(step.kernel);
  WriteAll(out, step.arguments, WriteRef);
  out.Number(step.copy_bytes);
}
StoredStep ReadStep(ByteReader& in) {
  return {.name = in.Text(),
          .kernel = in.Number(),
          .arguments = ReadAll(in, kRefBytes, ReadRef),
          .copy_bytes = in.Size()};
}

void WriteCheck(ByteWriter& out, const IndexCheck& check) {
  out.Text(check.node);
  out.Number(check.extent);
  WriteRef(out, check.indices);
  out.Byte(static_cast<uint8_t>(check.type));
  out.Number(check.count);
}
IndexCheck ReadCheck(ByteReader& in) {
  return {.node = in.Text(),
          .extent = in.Size(),
          .indices = ReadRef(in),
          .type = ReadType(in),
          .count = in.Size()};
}

}  // namespace

std::string Serialize(const StoredPlan& plan) {
  ByteWriter out;
  WriteAll(out, plan.inputs, WriteTensor);
  WriteAll(out, plan.outputs, WriteTensor);
  WriteAll(out, plan.constants, WriteConstant);
  WriteAll(out, plan.preprocessing, WriteStep);
  WriteAll(out, plan.steps, WriteStep);
  WriteAll(out, plan.index_checks, WriteCheck);
  out.Number(plan.arena_bytes);
  out.Number(plan.threads);
  return out.bytes();
}

Result<StoredPlan> ParsePlan(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  StoredPlan plan{.inputs = ReadAll(in, kTensorBytes, ReadTensor),
                  .outputs = ReadAll(in, kTensorBytes, ReadTensor),
                  .constants = ReadAll(in, kConstantBytes, ReadConstant),
                  .preprocessing = ReadAll(in, kStepBytes, ReadStep),
                  .steps = ReadAll(in, kStepBytes, ReadStep),
                  .index_checks = ReadAll(in, kCheckBytes, ReadCheck),
                  .arena_bytes = in.Size(),
                  .threads = in.Size()};
  if (!in.done()) return Fail(ErrorCode::kParse, "the bundle's plan is damaged");
  return plan;
}

}  // namespace tunec::bundle
