#include "runtime/kernel_file.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

namespace tunec {
namespace {

constexpr std::string_view kFirstLine = "tunec-kernel 1";
constexpr std::string_view kLastLine = "image";

std::unexpected<Error> Damaged(std::string_view line) {
  return Fail(ErrorCode::kParse, "the kernel file is damaged: '{}'", line);
}

// Removes the first line of `text` and returns the line without its newline.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

Result<KernelArgument> ParseArgument(std::string_view line) {
  constexpr int64_t kMostElements = int64_t{1} << 40;
  std::istringstream words{std::string(line)};
  std::string keyword, type, direction, more;
  KernelArgument argument;
  words >> keyword >> argument.name >> type >> argument.elements >> direction;
  const auto known = ParseDataType(type);
  const bool sound = words && !(words >> more) && keyword == "argument" && argument.elements >= 0 &&
                     argument.elements <= kMostElements &&
                     (direction == "in" || direction == "out");
  if (!sound || !known) return Damaged(line);
  argument.type = *known;
  argument.output = direction == "out";
  return argument;
}

}  // namespace

std::string Serialize(const KernelFile& file) {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const KernelArgument& argument : file.arguments) {
    text += fmt::format("argument {} {} {} {}\n", argument.name, Name(argument.type),
                        argument.elements, argument.output ? "out" : "in");
  }
  return text + fmt::format("{}\n", kLastLine) + Serialize(file.image);
}

Result<KernelFile> ParseKernelFile(std::string_view text) {
  if (TakeLine(text) != kFirstLine) {
    return Fail(ErrorCode::kParse, "no kernel file, which begins with '{}'", kFirstLine);
  }
  KernelFile file;
  for (;;) {
    const std::string_view line = TakeLine(text);
    if (line == kLastLine) break;
    TUNEC_ASSIGN(KernelArgument argument, ParseArgument(line));
    file.arguments.push_back(std::move(argument));
  }
  TUNEC_ASSIGN(file.image, ParseKernelImage(text));
  return file;
}

}  // namespace tunec
