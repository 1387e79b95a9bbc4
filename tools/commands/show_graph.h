// Tables of a graph and of its fusion groups.
#pragma once

#include <string>

#include "compiler/compiler.h"
#include "graph/graph.h"

namespace tunec {

/// A row per node: opcode, name, target, arguments, type; then the counts by kind.
std::string PrintGraphTable(const Graph& graph);

/// A row per group: number, kind, what it computes, its lowerings.
std::string PrintGroups(const FrontReport& front);

}  // namespace tunec
