// A source of a dynamic-shape model's graphs. It makes the graph for given sizes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/size/size_program.h"
#include "support/error.h"

namespace tunec {

/// Returns true for an error after which a call must end, without trying other sizes.
inline bool IsCancelled(const Error& error) { return error.code == ErrorCode::kCancelled; }

/// An input's axis that is the size of a dimension.
struct OpenAxis {
  int input = 0;  // number of the input
  int axis = 0;
  std::string dimension;
};

/// A source of a dynamic-shape model's graphs, with the model's dimensions and dynamic axes.
struct SizedSource {
  std::vector<std::string> dimensions;
  std::vector<OpenAxis> open;
  Sizes example;  // sizes for which graph_at returns a graph
  /// Returns the model's graph at these sizes, one size per dimension.
  std::function<Result<Graph>(const Sizes&)> graph_at;
  /// The graph with named sizes for the dimensions. Without it, each size is compiled for itself,
  /// for the reason in `unnamed`.
  std::optional<Graph> named = {};
  std::string unnamed = {};

  /// Returns the graph at these sizes, or none if graph_at fails. Fails with kCancelled if the
  /// source was cancelled; the caller must then end with this error.
  Result<std::optional<Graph>> GraphIfAny(const Sizes& sizes) const;

  size_t IndexOf(const std::string& dimension) const;
  SizeValues ValuesOf(const Sizes& sizes) const;
};

/// Returns the source with the dimension `removed` equal to the dimension `kept`. Requires: the
/// source has both.
SizedSource MergeDimensions(SizedSource source, const std::string& kept,
                            const std::string& removed);

}  // namespace tunec
