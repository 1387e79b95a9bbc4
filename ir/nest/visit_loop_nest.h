// Functions that visit the nodes of a LoopNest. The functions of rewrite_loop_nest.h replace nodes.
#pragma once

#include <concepts>
#include <functional>
#include <utility>
#include <variant>

#include "ir/loop_nest.h"
#include "support/overloaded.h"

namespace tunec {

/// The node kinds without child nodes.
template <class Kind>
concept LeafNode = std::same_as<Kind, Store> || std::same_as<Kind, Prefetch> ||
    std::same_as<Kind, AsyncCopy> || std::same_as<Kind, Arrive> || std::same_as<Kind, Wait> ||
    std::same_as<Kind, Barrier> || std::same_as<Kind, Shuffle>;

/// Calls the function that takes the node's kind. The functions must cover every kind: a visitor
/// without a function for all kinds does not compile after the addition of a kind.
template <class... Functions>
decltype(auto) Visit(const NestNode& node, Functions... functions) {
  return std::visit(Overloaded{std::move(functions)...}, node.value);
}
template <class... Functions>
decltype(auto) Visit(NestNode& node, Functions... functions) {
  return std::visit(Overloaded{std::move(functions)...}, node.value);
}

/// Calls `visit` for each body directly inside the node.
void ForEachBody(const NestNode& node, const std::function<void(const Body&)>& visit);
void ForEachBody(NestNode& node, const std::function<void(Body&)>& visit);

/// Calls `visit` for every node, parents before children.
void VisitNodes(const Body& body, const std::function<void(const NestNode&)>& visit);

/// Calls `visit` for every node of a kind, parents before children: ForEach<Store>(body, ...).
template <class Kind>
void ForEach(const Body& body, const std::function<void(const Kind&)>& visit) {
  VisitNodes(body, [&](const NestNode& node) {
    if (const auto* of_kind = std::get_if<Kind>(&node.value)) visit(*of_kind);
  });
}
template <class Kind>
void ForEach(const LoopNest& nest, const std::function<void(const Kind&)>& visit) {
  for (const Phase& phase : nest.phases) ForEach<Kind>(phase.body, visit);
}

/// Calls `visit` with the tensor of each read, write and prefetch of the node itself. A prefetch
/// counts as a read. The nodes in the node's bodies are not visited.
void ForEachAccess(const NestNode& node, const std::function<void(TensorId, bool writes)>& visit);

}  // namespace tunec
