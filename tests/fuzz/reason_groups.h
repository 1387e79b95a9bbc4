// Functions that format and group the reasons of rejections and of wrong results.
#pragma once

#include <map>
#include <string>

namespace tunec::fuzz {

/// Returns the text with '\x1f' instead of line ends.
inline std::string OneLine(std::string text) {
  for (char& c : text)
    if (c == '\n') c = '\x1f';
  return text;
}

inline std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find_first_of("\n\x1f"));
}

/// Returns the failing stage of a wrong result, or the whole reason if no stage is named. A reduced
/// case must fail in the same stage.
inline std::string StageOf(const std::string& reason) { return reason.substr(0, reason.find(':')); }

/// Returns the reason without numbers and most names, so that equal causes are counted together.
std::string WithoutNames(const std::string& reason);

/// Prints a line for each reason, the most frequent first.
void PrintRejections(const std::map<std::string, int>& rejections);

}  // namespace tunec::fuzz
