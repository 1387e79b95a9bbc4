#include "schedule/steps/words.h"

#include <algorithm>
#include <utility>

namespace tunec {

WordReader::WordReader(std::string_view line, SourceLocation where) : where_(std::move(where)) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  for (size_t begin = line.find_first_not_of(kBlank); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
    words_.push_back({std::string(line.substr(begin, end - begin)), static_cast<int>(begin) + 1});
    end_column_ = static_cast<int>(end) + 1;
    begin = line.find_first_not_of(kBlank, end);
  }
}

bool WordReader::TryTake(std::string_view word) {
  if (IsAtEnd() || words_[next_].text != word) return false;
  where_.column = words_[next_++].column;
  return true;
}

Result<std::string> WordReader::Take(std::string_view expected) {
  where_.column = IsAtEnd() ? end_column_ : words_[next_].column;
  if (!IsAtEnd()) return words_[next_++].text;
  return FailAt(where_, ErrorCode::kParse, "expected {} at the end of the line", expected);
}

std::unexpected<Error> WordReader::Unexpected(std::string_view expected,
                                              std::string_view found) const {
  return FailAt(where_, ErrorCode::kParse, "expected {}, found '{}'", expected, found);
}

}  // namespace tunec
