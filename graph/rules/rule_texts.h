// The *.rules files; their bytes stand in a source file that the build writes.
#pragma once

#include <span>
#include <string_view>

namespace tunec {

struct RuleText {
  std::string_view name;
  std::string_view text;
};
std::span<const RuleText> RuleTexts();

}  // namespace tunec
