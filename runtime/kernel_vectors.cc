#include "runtime/kernel_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <utility>

namespace tunec {
namespace {

constexpr std::string_view kFirstLine = "tunec-vectors 1";
constexpr std::string_view kFrom = "from ";
constexpr std::string_view kWithin = "within";
constexpr size_t kBytesInLine = 32;

uint64_t BitsAt(const KernelVector& vector, size_t element) {
  const size_t size = SizeOf(vector.type);
  uint64_t bits = 0;
  std::memcpy(&bits, vector.bytes.data() + element * size, size);
  return bits;
}

std::string HexAt(const KernelVector& vector, size_t element) {
  return fmt::format("{:0{}x}", BitsAt(vector, element), 2 * SizeOf(vector.type));
}

// Returns whether two elements have the same bits, or differ by no more than the first vector's
// tolerance.
bool IsSame(const KernelVector& right, const KernelVector& other, size_t element) {
  const uint64_t expected = BitsAt(right, element);
  const uint64_t found = BitsAt(other, element);
  if (expected == found || right.within == 0) return expected == found;
  const auto value = [](uint64_t bits) -> double {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  };
  return std::abs(value(expected) - value(found)) <= right.within;
}

/// A reader of the lines of a text. It counts the lines for the locations in messages.
class Lines {
 public:
  Lines(std::string_view text, const std::string& file_name)
      : text_(std::string(text)), file_name_(file_name) {}

  bool Next(std::string& line) {
    ++number_;
    return static_cast<bool>(std::getline(text_, line));
  }
  std::unexpected<Error> Problem(const std::string& message) const {
    return FailAt({.file = file_name_, .line = number_}, ErrorCode::kParse, "{}", message);
  }

 private:
  std::istringstream text_;
  const std::string& file_name_;
  int number_ = 0;
};

// Parses the elements of a line and adds them to the vector. Fails with kParse and the line's
// number.
Status Append(KernelVector& vector, const std::string& line, const Lines& lines) {
  const size_t size = SizeOf(vector.type);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    uint64_t bits = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, problem] = std::from_chars(word.data(), end, bits, 16);
    if (word.size() != 2 * size || problem != std::errc() || stop != end) {
      return lines.Problem(
          fmt::format("'{}' is no {} in {} digits", word, Name(vector.type), 2 * size));
    }
    std::string bytes(size, '\0');
    std::memcpy(bytes.data(), &bits, size);
    vector.bytes += bytes;
  }
  return {};
}

// Reads the optional tolerance at the end of a vector's first line. Returns false for other text
// and for an invalid tolerance.
bool ReadWithin(std::istringstream& words, KernelVector& vector) {
  std::string word, more;
  if (!(words >> word)) return true;
  words >> vector.within;
  return word == kWithin && words && !(words >> more) && vector.type == DataType::kF32 &&
         std::isfinite(vector.within) && vector.within > 0;
}

Result<KernelVector> ReadVector(const std::string& title, Lines& lines) {
  std::istringstream words(title);
  std::string type;
  KernelVector vector;
  uint64_t elements = 0;
  words >> vector.name >> type >> elements;
  const auto known = ParseDataType(type);
  if (!words || !known) {
    return lines.Problem(fmt::format("'{}' is not a name, a type and a number of elements", title));
  }
  vector.type = *known;
  if (!ReadWithin(words, vector)) {
    return lines.Problem(fmt::format(
        "'{}' does not end in '{} BOUND', which elements of f32 may have", title, kWithin));
  }
  std::string line;
  while (vector.elements() < elements) {
    if (!lines.Next(line)) {
      return lines.Problem(
          fmt::format("{} has {} elements, not {}", vector.name, vector.elements(), elements));
    }
    TUNEC_RETURN_IF_ERROR(Append(vector, line, lines));
  }
  if (vector.elements() == elements) return vector;
  return lines.Problem(fmt::format("{} has more than {} elements", vector.name, elements));
}

}  // namespace

const KernelVector* KernelVectors::Find(std::string_view name) const {
  const auto found = std::ranges::find(arguments, name, &KernelVector::name);
  return found == arguments.end() ? nullptr : &*found;
}

void KernelVectors::SetOutputs(std::string who, const std::vector<KernelVector>& outputs) {
  from = std::move(who);
  for (KernelVector output : outputs) {
    if (const KernelVector* const old = Find(output.name)) output.within = old->within;
    std::erase_if(arguments, [&](const KernelVector& old) { return old.name == output.name; });
    arguments.push_back(std::move(output));
  }
}

std::string Print(const KernelVectors& vectors) {
  std::string text = fmt::format("{}\n{}{}\n", kFirstLine, kFrom, vectors.from);
  for (const KernelVector& vector : vectors.arguments) {
    const size_t in_line = kBytesInLine / SizeOf(vector.type);
    text += fmt::format("{} {} {}", vector.name, Name(vector.type), vector.elements());
    text += vector.within > 0 ? fmt::format(" {} {}\n", kWithin, vector.within) : "\n";
    for (size_t i = 0; i < vector.elements(); ++i) {
      const bool ends = (i + 1) % in_line == 0 || i + 1 == vector.elements();
      text += HexAt(vector, i) + (ends ? "\n" : " ");
    }
  }
  return text;
}

Result<KernelVectors> ParseKernelVectors(std::string_view text, const std::string& file_name) {
  Lines lines(text, file_name);
  std::string line;
  if (!lines.Next(line) || line != kFirstLine)
    return lines.Problem(fmt::format("expected '{}'", kFirstLine));
  if (!lines.Next(line) || !line.starts_with(kFrom))
    return lines.Problem(fmt::format("expected '{}' and whose outputs they are", kFrom));
  KernelVectors vectors{.from = line.substr(kFrom.size()), .arguments = {}};
  while (lines.Next(line)) {
    TUNEC_ASSIGN(KernelVector vector, ReadVector(line, lines));
    if (vectors.Find(vector.name) != nullptr)
      return lines.Problem(fmt::format("{} is there twice", vector.name));
    vectors.arguments.push_back(std::move(vector));
  }
  return vectors;
}

Result<std::string> CompareWith(const KernelVectors& vectors, const KernelVector& output) {
  const KernelVector* const right = vectors.Find(output.name);
  if (right == nullptr || right->type != output.type ||
      right->bytes.size() != output.bytes.size()) {
    return Fail(ErrorCode::kInvalidArgument, "there is no vector of {} elements of {} for {}",
                output.elements(), Name(output.type), output.name);
  }
  size_t count = 0;
  size_t first = 0;
  for (size_t i = output.elements(); i-- > 0;) {
    if (IsSame(*right, output, i)) continue;
    ++count;
    first = i;
  }
  if (count == 0) return "";
  const std::string far =
      right->within > 0 ? fmt::format(" by more than {}", right->within) : std::string();
  return fmt::format("{} of {} elements differ{}, the first at {}: {}, not {}", count,
                     output.elements(), far, first, HexAt(output, first), HexAt(*right, first));
}

}  // namespace tunec
