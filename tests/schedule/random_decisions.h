// Decisions of a sketch, drawn.
#pragma once

#include <random>

#include "schedule/sketch.h"

namespace tunec::test {

/// Of each knob a choice, all equally likely. `random` yields unsigned numbers.
template <class Random = std::mt19937>
Decisions RandomDecisions(const Sketch& sketch, Random& random) {
  Decisions decisions;
  for (const Knob& knob : sketch.knobs)
    decisions.push_back(static_cast<int>(random() % knob.choices.size()));
  return decisions;
}

}  // namespace tunec::test
