#include "schedule/steps/words.h"

#include <algorithm>
#include <utility>

namespace tunec {

Words::Words(std::string_view line, SourceLocation where) : where_(std::move(where)) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  for (size_t begin = line.find_first_not_of(kBlank); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
    words_.push_back({std::string(line.substr(begin, end - begin)), static_cast<int>(begin) + 1});
    end_column_ = static_cast<int>(end) + 1;
    begin = line.find_first_not_of(kBlank, end);
  }
}

bool Words::TryTake(std::string_view word) {
  if (AtEnd() || words_[next_].text != word) return false;
  where_.column = words_[next_++].column;
  return true;
}

Result<std::string> Words::Take(std::string_view wanted) {
  where_.column = AtEnd() ? end_column_ : words_[next_].column;
  if (!AtEnd()) return words_[next_++].text;
  return FailAt(where_, ErrorCode::kParse, "expected {} at the end of the line", wanted);
}

std::unexpected<Error> Words::Unexpected(std::string_view wanted, std::string_view found) const {
  return FailAt(where_, ErrorCode::kParse, "expected {}, found '{}'", wanted, found);
}

}  // namespace tunec
