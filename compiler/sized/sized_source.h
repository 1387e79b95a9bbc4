// A source of a dynamic-shape model's graphs. It makes the graph for given sizes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/pad/pad_graph.h"
#include "runtime/sized/size_formula.h"
#include "support/error.h"

namespace tunec {

/// Returns true for an error after which a call must end, without trying other sizes.
inline bool IsCancelled(const Error& error) { return error.code == ErrorCode::kCancelled; }

/// A source of a dynamic-shape model's graphs, with the model's dimensions and dynamic axes.
struct SizedSource {
  std::vector<std::string> dimensions;
  std::vector<OpenAxis> open;  // dynamic axes, with the names of their dimensions
  Sizes example;               // sizes for which graph_at returns a graph
  /// Returns the model's graph at these sizes, one size per dimension.
  std::function<Result<Graph>(const Sizes&)> graph_at;
  /// True if all numbers in the graphs are sums and products of sizes, or follow from sizes by the
  /// rules of operators. Then each size is compared with its graph before a run only if a formula
  /// has a guessed divisor. If false, each size is compared (compiler/sized/check_sizes.h), unless
  /// the form has no formulas.
  bool follows_rules = false;
  /// The graph with named sizes for the dimensions; none if a node needs numbers instead.
  std::optional<Graph> named = {};

  /// Returns the graph at these sizes, or none if graph_at fails. Fails with kCancelled if the
  /// source was cancelled; the caller must then end with this error.
  Result<std::optional<Graph>> GraphIfAny(const Sizes& sizes) const;

  size_t IndexOf(const std::string& dimension) const;
};

/// Returns the source with the dimension `removed` equal to the dimension `kept`. Requires: the
/// source has both.
SizedSource MergeDimensions(SizedSource source, const std::string& kept,
                            const std::string& removed);

}  // namespace tunec
