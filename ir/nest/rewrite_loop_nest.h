// Rewriting of a nest by functions on single nodes, so that a pass names only the kinds it changes.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

#include "ir/nest/visit_loop_nest.h"

namespace tunec {

/// Returns a body of one node.
template <class Kind>
Body BodyOf(Kind node) {
  Body body;
  body.emplace_back(std::move(node));
  return body;
}
inline Body BodyOf(Body body) { return body; }

inline void Append(Body& body, Body more) {
  body.insert(body.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

/// Rebuilds a body from the inside out. `functions` (an Overloaded, or one function) receive nodes
/// by value or const reference, after the nodes' own bodies are rewritten. They return the
/// replacement: a node, or a Body of any number of nodes. If no function takes a kind of node,
/// these nodes are retained, with their bodies rewritten.
///
///     RewriteBody(body, Overloaded{
///         [](const Barrier&) { return Body(); },                    // for i { A; barrier }
///         [](Loop loop) { loop.unroll = 2; return loop; }});        // -> for i unroll 2 { A }
template <class Functions>
Body RewriteBody(Body body, Functions& functions) {
  Body result;
  for (NestNode& node : body) {
    ForEachBody(node, [&](Body& inner) { inner = RewriteBody(std::move(inner), functions); });
    std::visit(
        [&]<class Kind>(Kind& kind) {
          constexpr bool kTaken = std::is_invocable_v<Functions&, Kind>;
          static_assert(kTaken || !std::is_invocable_v<Functions&, Kind&>, "take a node by value");
          if constexpr (kTaken) {
            Append(result, BodyOf(functions(std::move(kind))));
          } else {
            result.emplace_back(std::move(kind));
          }
        },
        node.value);
  }
  return result;
}

/// Rewrites the body of every phase of a nest by RewriteBody.
template <class Functions>
LoopNest Rewrite(LoopNest nest, Functions functions) {
  for (Phase& phase : nest.phases) phase.body = RewriteBody(std::move(phase.body), functions);
  return nest;
}

}  // namespace tunec
