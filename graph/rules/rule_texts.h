// The texts of the *.rules files, in a source file that the build generates.
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
