// Makes a failing graph small.
#pragma once

#include <functional>

#include "graph/graph.h"
#include "tests/fuzz/check_graph.h"

namespace tunec::fuzz {

struct Case {
  Graph graph;
  CheckPlan plan;
};
/// Whether a case still fails.
using Fails = std::function<bool(const Case&)>;

/// Leaves out outputs, passes and nodes (a node gives way to one of its operands or to a leaf) as
/// long as the case fails. Calls `fails` at most `most_tries` times.
Case Shrink(Case failing, const Fails& fails, int most_tries = 400);

}  // namespace tunec::fuzz
