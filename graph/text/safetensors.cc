#include "graph/text/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "support/file.h"

namespace tunec {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kLargestHeader = 100'000'000;  // the format's own limit
constexpr size_t kPrefix = 8;

struct TypeRow {
  std::string_view name;
  DataType type;
};
constexpr TypeRow kTypes[] = {
    {"F32", DataType::kF32},   {"F64", DataType::kF64}, {"F16", DataType::kF16},
    {"BF16", DataType::kBF16}, {"I8", DataType::kI8},   {"I16", DataType::kI16},
    {"I32", DataType::kI32},   {"I64", DataType::kI64}, {"U8", DataType::kU8},
    {"U16", DataType::kU16},   {"U32", DataType::kU32}, {"U64", DataType::kU64},
    {"BOOL", DataType::kBool},
};

struct Entry {
  std::string name;
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // offsets in the data, in bytes
};

/// Checks that a header nests at most three levels: the header, a tensor, and a list of the tensor.
Status CheckNesting(std::string_view header) {
  constexpr int kDeepest = 3;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < header.size(); ++i) {
    const char c = header[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return Fail(ErrorCode::kParse, "header nests deeper than {}", kDeepest);
  }
  return {};
}

Result<Json> ParseHeader(std::string_view header) {
  TUNEC_RETURN_IF_ERROR(CheckNesting(header));
  std::set<std::string> names;
  std::string twice;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth == 1 && event == Json::parse_event_t::key)
      if (!names.insert(value.get<std::string>()).second) twice = value.get<std::string>();
    return true;
  };
  Json json = Json::parse(header.begin(), header.end(), watch, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    return Fail(ErrorCode::kParse, "header is not a JSON object");
  if (!twice.empty()) return Fail(ErrorCode::kParse, "header names tensor {} twice", twice);
  return json;
}

Result<std::vector<uint64_t>> ParseSizes(const Json& tensor, const char* key,
                                         const std::string& name) {
  const auto found = tensor.find(key);
  if (found == tensor.end() || !found->is_array())
    return Fail(ErrorCode::kParse, "tensor {} has no list {}", name, key);
  std::vector<uint64_t> sizes;
  for (const Json& size : *found) {
    if (!size.is_number_unsigned())
      return Fail(ErrorCode::kParse, "tensor {} has {} {}, expected an integer of at least 0", name,
                  key, size.dump(-1, ' ', true, Json::error_handler_t::replace));
    sizes.push_back(size.get<uint64_t>());
  }
  return sizes;
}

Result<DataType> ParseType(const Json& tensor, const std::string& name) {
  const auto found = tensor.find("dtype");
  if (found == tensor.end() || !found->is_string())
    return Fail(ErrorCode::kParse, "tensor {} has no dtype", name);
  const std::string& text = found->get_ref<const std::string&>();
  for (const TypeRow& row : kTypes)
    if (row.name == text) return row.type;
  return Fail(
      ErrorCode::kUnsupported,
      "tensor {} has dtype {}, expected one of F32, F64, F16, BF16, I8 to I64, U8 to U64, BOOL",
      name, text);
}

Result<Entry> ParseEntry(const std::string& name, const Json& tensor, uint64_t data_size) {
  if (!tensor.is_object()) return Fail(ErrorCode::kParse, "tensor {} is not an object", name);
  Entry entry{.name = name};
  TUNEC_ASSIGN(entry.type, ParseType(tensor, name));
  TUNEC_ASSIGN(const std::vector<uint64_t> shape, ParseSizes(tensor, "shape", name));
  TUNEC_ASSIGN(const std::vector<uint64_t> offsets, ParseSizes(tensor, "data_offsets", name));
  for (const uint64_t size : shape) {
    if (size > (uint64_t{1} << 48))
      return Fail(ErrorCode::kParse, "tensor {} has a dimension of {}, expected at most 2^48", name,
                  size);
    entry.shape.push_back(static_cast<int64_t>(size));
  }
  if (shape.size() > 32)
    return Fail(ErrorCode::kParse, "tensor {} has rank {}, expected at most 32", name,
                shape.size());
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_size)
    return Fail(ErrorCode::kParse, "tensor {} has data_offsets [{}], expected two within 0 to {}",
                name, fmt::join(offsets, ", "), data_size);
  const int64_t count = ElementCount(entry.shape);
  entry.begin = offsets[0];
  entry.end = offsets[1];
  if (count < 0 || static_cast<uint64_t>(count) * SizeOf(entry.type) != entry.end - entry.begin)
    return Fail(ErrorCode::kParse, "tensor {} has {} bytes, expected {} elements of {}", name,
                entry.end - entry.begin, count, Name(entry.type));
  return entry;
}

/// Checks that the tensors fill the data without gap or overlap, as the format requires.
Status CheckCover(std::vector<Entry> entries, uint64_t data_size) {
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != covered)
      return Fail(ErrorCode::kParse, "tensor {} begins at {}, expected {}: {}", entry.name,
                  entry.begin, covered,
                  entry.begin < covered ? "it overlaps another" : "there is a gap");
    covered = entry.end;
  }
  if (covered != data_size)
    return Fail(ErrorCode::kParse, "tensors end at {}, the data at {}", covered, data_size);
  return {};
}

Result<std::vector<Entry>> ParseEntries(std::span<const std::byte> file) {
  uint64_t header_size = 0;
  if (file.size() < kPrefix)
    return Fail(ErrorCode::kParse, "file has {} bytes, expected at least {}", file.size(), kPrefix);
  for (size_t i = kPrefix; i-- > 0;) header_size = header_size << 8 | static_cast<uint8_t>(file[i]);
  const uint64_t most = std::min<uint64_t>(kLargestHeader, file.size() - kPrefix);
  if (header_size > most)
    return Fail(ErrorCode::kParse, "header has {} bytes, expected at most {}", header_size, most);
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + kPrefix, header_size);
  const uint64_t data_size = file.size() - kPrefix - header_size;
  TUNEC_ASSIGN(const Json json, ParseHeader(header));
  std::vector<Entry> entries;
  for (const auto& [name, tensor] : json.items()) {
    if (name == "__metadata__") continue;
    TUNEC_ASSIGN(Entry entry, ParseEntry(name, tensor, data_size));
    entries.push_back(std::move(entry));
  }
  TUNEC_RETURN_IF_ERROR(CheckCover(entries, data_size));
  return entries;
}

Result<Array> ArrayOf(const Entry& entry, const std::shared_ptr<const MappedFile>& file,
                      std::span<const std::byte> bytes) {
  if (entry.type == DataType::kBool)
    for (const std::byte b : bytes)
      if (static_cast<uint8_t>(b) > 1)
        return Fail(ErrorCode::kParse, "tensor {} holds {}, expected 0 or 1", entry.name,
                    static_cast<int>(b));
  if (reinterpret_cast<uintptr_t>(bytes.data()) % SizeOf(entry.type) == 0)
    return Array(entry.type, entry.shape, file, bytes);
  Array copy(entry.type, entry.shape);  // the header may leave tensors unaligned
  std::memcpy(copy.mutable_data(), bytes.data(), bytes.size());
  return copy;
}

std::string_view TypeText(DataType type) {
  for (const TypeRow& row : kTypes)
    if (row.type == type) return row.name;
  return "";
}

std::string Located(const std::filesystem::path& path, const Error& error) {
  return fmt::format("{}: {}", path.string(), error.message);
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::Open(const std::filesystem::path& path) {
  TUNEC_ASSIGN(const std::shared_ptr<const MappedFile> mapped, MappedFile::Open(path));
  auto entries = ParseEntries(mapped->bytes());
  if (!entries) return Fail(entries.error().code, "{}", Located(path, entries.error()));
  SafetensorsFile file;
  file.path_ = path;
  size_t data_size = 0;
  for (const Entry& entry : *entries) data_size = std::max<size_t>(data_size, entry.end);
  const std::span<const std::byte> data = mapped->bytes().last(data_size);
  for (const Entry& entry : *entries) {
    auto array = ArrayOf(entry, mapped, data.subspan(entry.begin, entry.end - entry.begin));
    if (!array) return Fail(array.error().code, "{}", Located(path, array.error()));
    file.tensors_.emplace(entry.name, std::move(*array));
  }
  return file;
}

const Array* SafetensorsFile::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Status WriteSafetensors(const std::filesystem::path& path,
                        const std::map<std::string, Array, std::less<>>& tensors) {
  Json json = Json::object();
  uint64_t offset = 0;
  for (const auto& [name, array] : tensors) {
    json[name] = {{"dtype", TypeText(array.type())},
                  {"shape", array.shape()},
                  {"data_offsets", {offset, offset + array.bytes()}}};
    offset += array.bytes();
  }
  std::string header = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  header.resize((kPrefix + header.size() + 63) / 64 * 64 - kPrefix, ' ');
  std::string bytes;
  bytes.reserve(kPrefix + header.size() + offset);
  for (size_t i = 0; i < kPrefix; ++i)
    bytes.push_back(static_cast<char>(header.size() >> (8 * i) & 0xff));
  bytes += header;
  for (const auto& [name, array] : tensors)
    bytes.append(reinterpret_cast<const char*>(array.data()), array.bytes());
  return WriteFileAtomically(path, bytes);
}

}  // namespace tunec
