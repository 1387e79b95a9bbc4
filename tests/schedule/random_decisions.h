// Functions that return random decisions of a sketch, or decisions with one knob changed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "schedule/sketch.h"

namespace tunec::test {

/// Returns the position of a random choice for each knob. `random` returns unsigned numbers.
template <class Random = std::mt19937>
Decisions RandomDecisions(const Sketch& sketch, Random& random) {
  Decisions decisions;
  for (const Knob& knob : sketch.knobs)
    decisions.push_back(static_cast<int>(random() % knob.choices.size()));
  return decisions;
}

/// Returns the decisions with the named knob set to the value, which must be a choice of the knob.
/// Without such a knob the decisions are unchanged.
inline Decisions WithKnob(const Sketch& sketch, Decisions decisions, std::string_view name,
                          int64_t value) {
  for (size_t k = 0; k < sketch.knobs.size(); ++k) {
    const std::vector<int64_t>& choices = sketch.knobs[k].choices;
    if (sketch.knobs[k].name != name) continue;
    decisions[k] = static_cast<int>(std::ranges::find(choices, value) - choices.begin());
  }
  return decisions;
}

}  // namespace tunec::test
