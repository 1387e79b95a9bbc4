#include "numpy/npz.h"

#include <set>

#include "numpy/npy_format.h"
#include "numpy/zip.h"
#include "support/file.h"

namespace tunec {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::string_view kBFloat16Note = "tunec:bf16";

using Bytes = std::span<const std::byte>;

Bytes BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

// Returns the error with the name of a file or a member before the message.
std::unexpected<Error> In(const std::string& name, Error error) {
  error.message = fmt::format("{}: {}", name, error.message);
  return std::unexpected(std::move(error));
}

Result<NamedArray> ReadMember(const ZipMember& member) {
  Buffer storage;
  TUNEC_ASSIGN(const Bytes bytes, UnpackMember(member, storage));
  Result<NamedArray> array = ParseNpy(bytes);
  if (!array) return In(fmt::format("member '{}'", member.name), std::move(array).error());
  array->spec.name = member.name.substr(0, member.name.size() - kSuffix.size());
  const bool noted = member.comment == kBFloat16Note && array->spec.type == DataType::kU16;
  if (noted) array->spec.type = DataType::kBF16;
  return array;
}

Result<std::vector<NamedArray>> ReadMembers(Bytes file) {
  TUNEC_ASSIGN(const std::vector<ZipMember> members, ListZip(file));
  std::vector<NamedArray> arrays;
  std::set<std::string> names;
  for (const ZipMember& member : members) {
    if (!member.name.ends_with(kSuffix)) continue;
    if (!names.insert(member.name).second)
      return Fail(ErrorCode::kParse, "two members are called '{}'", member.name);
    TUNEC_ASSIGN(arrays.emplace_back(), ReadMember(member));
  }
  return arrays;
}

Result<Bytes> Elements(const NamedArrayView& array) {
  TUNEC_ASSIGN(const int64_t bytes, ByteSize(array.spec));
  if (bytes > 0 && array.data == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "array '{}' has no data", array.spec.name);
  return Bytes(static_cast<const std::byte*>(array.data), bytes);
}

}  // namespace

Result<std::vector<NamedArray>> ReadNpz(const std::string& path) {
  TUNEC_ASSIGN(const std::string file, ReadFile(path));
  Result<std::vector<NamedArray>> arrays = ReadMembers(BytesOf(file));
  if (!arrays) return In(path, std::move(arrays).error());
  return arrays;
}

Result<NamedArray> ReadNpy(const std::string& path) {
  TUNEC_ASSIGN(const std::string file, ReadFile(path));
  Result<NamedArray> array = ParseNpy(BytesOf(file));
  if (!array) return In(path, std::move(array).error());
  return array;
}

Status WriteNpz(const std::string& path, std::span<const NamedArrayView> arrays) {
  std::set<std::string> names;
  ZipWriter writer;
  for (const NamedArrayView& array : arrays) {
    const Result<Bytes> elements = Elements(array);
    if (!elements) return In(path, elements.error());
    if (!names.insert(array.spec.name).second)
      return Fail(ErrorCode::kInvalidArgument, "{}: two arrays are called '{}'", path,
                  array.spec.name);
    const std::string header = NpyHeader(array.spec);
    const Bytes parts[] = {BytesOf(header), *elements};
    const bool bfloat16 = array.spec.type == DataType::kBF16;
    writer.Add(fmt::format("{}{}", array.spec.name, kSuffix),
               std::string(bfloat16 ? kBFloat16Note : ""), parts);
  }
  Result<std::string> archive = writer.Finish();
  if (!archive) return In(path, std::move(archive).error());
  return WriteFileAtomically(path, *archive);
}

}  // namespace tunec
