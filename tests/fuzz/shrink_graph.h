// A function that reduces a failing graph and the passes of its plan.
#pragma once

#include <functional>

#include "graph/graph.h"
#include "tests/fuzz/check_graph.h"

namespace tunec::fuzz {

struct Case {
  Graph graph;
  CheckPlan plan;
};
/// A function that returns whether a case still fails.
using Fails = std::function<bool(const Case&)>;

/// Removes outputs, passes and nodes as long as the case fails. A removed node that outputs need is
/// replaced by one of its operands or by a leaf. Calls `fails` at most `most_tries` times.
Case Shrink(Case failing, const Fails& fails, int most_tries = 400);

}  // namespace tunec::fuzz
