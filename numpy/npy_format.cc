#include "numpy/npy_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace tunec {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 1 << 16;
constexpr size_t kMaxDimensions = 64;  // NumPy's own limit

struct TypeCode {
  std::string_view code;  // without the byte order
  DataType type;
};
// NumPy's codes of types. bf16 is read in the spellings of ml_dtypes (V2, bfloat16) and written as
// u2.
constexpr std::array<TypeCode, 15> kTypeCodes = {{{"f4", DataType::kF32},
                                                  {"f8", DataType::kF64},
                                                  {"f2", DataType::kF16},
                                                  {"i1", DataType::kI8},
                                                  {"i2", DataType::kI16},
                                                  {"i4", DataType::kI32},
                                                  {"i8", DataType::kI64},
                                                  {"u1", DataType::kU8},
                                                  {"u2", DataType::kU16},
                                                  {"u4", DataType::kU32},
                                                  {"u8", DataType::kU64},
                                                  {"b1", DataType::kBool},
                                                  {"V2", DataType::kBF16},
                                                  {"bfloat16", DataType::kBF16},
                                                  {"u2", DataType::kBF16}}};

template <class... Args>
std::unexpected<Error> Bad(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kParse, format, std::forward<Args>(args)...);
}

// A reader of the few forms of Python literals that occur in a header.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  bool Take(std::string_view token) {
    SkipSpace();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool IsAtEnd() {
    SkipSpace();
    return rest_.empty();
  }
  std::optional<std::string_view> String() {
    SkipSpace();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<int64_t> Integer() {
    SkipSpace();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    rest_.remove_prefix(end - rest_.data());
    return value;
  }
  // Reads a shape such as (), (3,), (3, 4) or (3, 4,).
  std::optional<std::vector<int64_t>> Shape() {
    if (!Take("(")) return std::nullopt;
    std::vector<int64_t> shape;
    while (!Take(")")) {
      const std::optional<int64_t> dimension = Integer();
      if (!dimension || shape.size() == kMaxDimensions) return std::nullopt;
      shape.push_back(*dimension);
      if (Take(",")) continue;
      return Take(")") ? std::optional(shape) : std::nullopt;
    }
    return shape;
  }

 private:
  void SkipSpace() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size()));
  }
  std::string_view rest_;
};

struct Header {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

Status ParseEntry(HeaderReader& reader, Header& header) {
  const std::optional<std::string_view> key = reader.String();
  if (!key || !reader.Take(":")) return Bad("the header is malformed");
  if (*key == "descr") {
    header.descr = reader.String();
    if (!header.descr) return Fail(ErrorCode::kUnsupported, "structured types are not supported");
  } else if (*key == "fortran_order") {
    header.fortran_order = reader.Take("True");
    if (!*header.fortran_order && !reader.Take("False")) return Bad("fortran_order is not a bool");
  } else if (*key == "shape") {
    header.shape = reader.Shape();
    if (!header.shape) return Bad("the shape is malformed");
  } else {
    return Bad("the header has an unknown key '{}'", *key);
  }
  return {};
}

// Parses a header such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
Result<Header> ParseHeader(std::string_view text) {
  HeaderReader reader(text);
  Header header;
  if (!reader.Take("{")) return Bad("the header is not a dictionary");
  while (!reader.Take("}")) {
    TUNEC_RETURN_IF_ERROR(ParseEntry(reader, header));
    if (reader.Take(",")) continue;
    if (reader.Take("}")) break;
    return Bad("the header is malformed");
  }
  if (!reader.IsAtEnd() || !header.descr || !header.fortran_order || !header.shape)
    return Bad("the header is incomplete");
  return header;
}

Result<DataType> ParseDescr(std::string_view descr) {
  std::string_view code = descr;
  const bool marked = !code.empty() && std::string_view("<>|=").contains(code[0]);
  if (marked) code.remove_prefix(1);
  for (const TypeCode& entry : kTypeCodes) {
    if (entry.code != code) continue;
    if (descr[0] == '>' && SizeOf(entry.type) > 1)
      return Fail(ErrorCode::kUnsupported, "type '{}' is big-endian", descr);
    return entry.type;
  }
  return Fail(ErrorCode::kUnsupported, "type '{}' is not supported", descr);
}

// Copies elements from column-major order (the first index varies fastest) to row-major order.
void CopyFromFortran(const std::byte* from, std::byte* to, const TensorSpec& spec) {
  const size_t size = SizeOf(spec.type);
  const size_t rank = spec.shape.size();
  std::vector<int64_t> index(rank, 0);
  std::vector<int64_t> stride(rank, static_cast<int64_t>(size));
  for (size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * spec.shape[d - 1];
  int64_t offset = 0;
  for (;;) {
    std::memcpy(to, from + offset, size);
    to += size;
    size_t d = rank;
    while (d > 0 && index[d - 1] == spec.shape[d - 1] - 1) {
      --d;
      offset -= index[d] * stride[d];
      index[d] = 0;
    }
    if (d == 0) return;
    ++index[d - 1];
    offset += stride[d - 1];
  }
}

struct Parts {
  std::string_view header;
  std::span<const std::byte> elements;
};

Result<Parts> SplitFile(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic) || text.size() < 12) return Bad("not a .npy file");
  const auto byte = [&](size_t i) { return static_cast<size_t>(file[i]); };
  const size_t version = byte(6);
  if (version < 1 || version > 3)
    return Fail(ErrorCode::kUnsupported, ".npy version {} is not supported", version);
  const size_t start = version == 1 ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > kMaxHeader || length > text.size() - start)
    return Bad("the header claims {} bytes", length);
  return Parts{text.substr(start, length), file.subspan(start + length)};
}

}  // namespace

Result<NamedArray> ParseNpy(std::span<const std::byte> file) {
  TUNEC_ASSIGN(const Parts parts, SplitFile(file));
  TUNEC_ASSIGN(Header header, ParseHeader(parts.header));
  NamedArray array;
  TUNEC_ASSIGN(array.spec.type, ParseDescr(*header.descr));
  array.spec.shape = std::move(*header.shape);
  const Result<int64_t> bytes = ByteSize(array.spec);
  if (!bytes || static_cast<uint64_t>(*bytes) != parts.elements.size())
    return Bad("{} bytes of elements do not fill {}", parts.elements.size(),
               FormatType(array.spec));
  if (*bytes == 0) return array;
  TUNEC_ASSIGN(array.bytes, Buffer::Allocate(*bytes));
  if (*header.fortran_order) {
    CopyFromFortran(parts.elements.data(), array.bytes.data(), array.spec);
  } else {
    std::memcpy(array.bytes.data(), parts.elements.data(), *bytes);
  }
  if (array.spec.type == DataType::kBool) {
    const std::span<std::byte> bools(array.bytes.data(), array.bytes.size());
    for (std::byte& value : bools) value = std::byte{value != std::byte{0}};
  }
  return array;
}

std::string NpyHeader(const TensorSpec& spec) {
  // The search is from the back: the spelling for writing is the last one of its type.
  const auto entry = std::find_if(kTypeCodes.rbegin(), kTypeCodes.rend(),
                                  [&](const TypeCode& code) { return code.type == spec.type; });
  std::string shape;
  for (const int64_t dimension : spec.shape) shape += fmt::format("{}, ", dimension);
  if (spec.shape.size() > 1) shape.resize(shape.size() - 2);
  if (spec.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 SizeOf(spec.type) > 1 ? '<' : '|', entry->code, shape);
  constexpr size_t kPrefix = 10;
  text.append(63 - (kPrefix + text.size()) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size()), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace tunec
