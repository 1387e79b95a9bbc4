// The first half of compilation: passes, fusion, lowering.
#pragma once

#include <string>

#include "autotune/task.h"
#include "compiler/compiler.h"

namespace tunec {

/// What similar workloads are sought by, and what tables show: the group's contraction or
/// reduction, else "elementwise" or "movement".
std::string KindOfGroup(const Graph& graph, const FusionGroup& group);
/// The nodes it computes: "conv_3 add_3 relu_3".
std::string NameOfGroup(const Graph& graph, const FusionGroup& group);
/// Operators and shapes: "conv+add+relu 1x64x56x56".
std::string DescribeGroup(const Graph& graph, const FusionGroup& group);

/// RunFrontEnd without the passes: `graph` as it is.
Result<FrontReport> FuseAndLower(const Graph& graph, const CompileOptions& options);

/// The canonical names of a lowering's arguments: the group's inputs, then its outputs.
std::vector<std::string> ArgumentNames(const Compute& compute);

}  // namespace tunec
