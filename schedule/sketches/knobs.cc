#include "schedule/sketches/knobs.h"

#include <algorithm>

namespace tunec {

Knob KnobAt(std::string name, std::vector<int64_t> choices, int64_t initial) {
  if (std::ranges::find(choices, initial) == choices.end()) choices.push_back(initial);
  std::ranges::sort(choices);
  const auto at = std::ranges::find(choices, initial) - choices.begin();
  return {.name = std::move(name), .choices = std::move(choices), .initial = static_cast<int>(at)};
}

}  // namespace tunec
