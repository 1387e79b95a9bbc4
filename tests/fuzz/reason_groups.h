// Why a case was refused or is wrong, as one line and in groups.
#pragma once

#include <map>
#include <string>

namespace tunec::fuzz {

/// Reasons may have several lines.
inline std::string OneLine(std::string text) {
  for (char& c : text)
    if (c == '\n') c = '\x1f';
  return text;
}

inline std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find_first_of("\n\x1f"));
}

/// Which of the stages went wrong: what a smaller case must still show.
inline std::string StageOf(const std::string& reason) { return reason.substr(0, reason.find(':')); }

/// The reason without names and numbers, so that equal causes are counted together.
std::string WithoutNames(const std::string& reason);

/// A line for each reason, the most frequent ones first.
void PrintRefusals(const std::map<std::string, int>& refusals);

}  // namespace tunec::fuzz
