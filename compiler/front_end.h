// Functions to fuse and lower a graph, and to find and describe the groups of a graph. RunFrontEnd
// (compiler.h) runs the graph passes, then FuseAndLower.
#pragma once

#include <string>

#include "autotune/task.h"
#include "compiler/compiler.h"

namespace tunec {

/// Returns the operator of the group's first contraction, else of its first reduction or composite
/// node. Without these, returns "elementwise" if a node is elementwise, else "movement". Tables
/// show this kind, and searches for similar workloads use it.
std::string KindOfGroup(const Graph& graph, const FusionGroup& group);
/// Returns the names of the group's nodes: "conv_3 add_3 relu_3".
std::string NameOfGroup(const Graph& graph, const FusionGroup& group);
/// Returns a group's operators, input shapes and first output's shape: "add+relu 8x4 4 -> 8x4".
std::string DescribeGroup(const Graph& graph, const FusionGroup& group);

/// Returns the index of the group with this number, or with a node of this name. Fails with
/// kInvalidArgument if there is none.
Result<size_t> FindGroup(const FrontReport& front, const std::string& name_or_number);

/// Runs fusion and lowering on `graph` as it is, without the passes.
Result<FrontReport> FuseAndLower(const Graph& graph, const CompileOptions& options);

/// Returns the canonical names of a lowering's arguments: the group's inputs, then its outputs.
std::vector<std::string> ArgumentNames(const Compute& compute);

}  // namespace tunec
