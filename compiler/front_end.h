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

/// The position of a group that is given by its number or by the name of one of its nodes.
Result<size_t> FindGroup(const FrontReport& front, const std::string& wanted);

/// RunFrontEnd without the passes: `graph` as it is.
Result<FrontReport> FuseAndLower(const Graph& graph, const CompileOptions& options);

/// The canonical names of a lowering's arguments: the group's inputs, then its outputs.
std::vector<std::string> ArgumentNames(const Compute& compute);

}  // namespace tunec
