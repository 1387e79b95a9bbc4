// The texts of the *.rules files. The build generates a source file with their bytes.
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
