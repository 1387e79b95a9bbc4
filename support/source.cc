#include "support/source.h"

#include <algorithm>
#include <optional>

namespace tunec {
namespace {

std::optional<std::string_view> LineOf(std::string_view text, int number) {
  size_t begin = 0;
  for (int line = 1; line < number; ++line) {
    const size_t newline = text.find('\n', begin);
    if (newline == std::string_view::npos) return std::nullopt;
    begin = newline + 1;
  }
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

SourceLocation LocationOf(std::string_view text, std::string_view file_name, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t newline = before.rfind('\n');
  const size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  return {std::string(file_name), 1 + static_cast<int>(std::ranges::count(before, '\n')),
          1 + static_cast<int>(before.size() - line_begin)};
}

std::string FormatWithSource(const Error& error, std::string_view text) {
  std::string result = error.Format();
  if (!error.where || error.where->line <= 0) return result;
  const auto line = LineOf(text, error.where->line);
  if (!line) return result;
  const std::string number = fmt::format("{:>5}", error.where->line);
  result += fmt::format("\n{} | {}", number, *line);
  if (error.where->column <= 0) return result;
  // The line's tabs are repeated, so that tabs do not shift the caret.
  std::string blank;
  for (int i = 0; i + 1 < error.where->column; ++i) {
    const bool tab = static_cast<size_t>(i) < line->size() && (*line)[i] == '\t';
    blank += tab ? '\t' : ' ';
  }
  return result + fmt::format("\n{} | {}^", std::string(number.size(), ' '), blank);
}

}  // namespace tunec
