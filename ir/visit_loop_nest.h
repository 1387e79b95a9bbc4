// Walks over the tree of a LoopNest, so that a pass names only the kinds of node it means.
#pragma once

#include <functional>

#include "ir/loop_nest.h"

namespace tunec {

/// Calls `visit` for every node, parents before children.
void VisitNodes(const Body& body, const std::function<void(const NestNode&)>& visit);

/// Calls `visit` for each body directly inside the node.
void ForEachBody(const NestNode& node, const std::function<void(const Body&)>& visit);

/// Calls `visit` for each tensor the node itself (not its bodies) reads or writes.
void ForEachAccess(const NestNode& node, const std::function<void(TensorId, bool writes)>& visit);

}  // namespace tunec
