// Where the graphs of a model whose sizes are open come from.
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

/// Whether a call is to end with this error, instead of trying other sizes or another way.
inline bool IsCancelled(const Error& error) { return error.code == ErrorCode::kCancelled; }

struct SizedSource {
  std::vector<std::string> dimensions;
  std::vector<OpenAxis> open;  // by their dimensions' names
  Sizes example;               // that graph_at has a graph for
  /// The model's graph at these sizes, one for each dimension.
  std::function<Result<Graph>(const Sizes&)> graph_at;
  /// All numbers of the graphs are sums and products of sizes, or follow from sizes by the rules of
  /// operators. Then a formula is right if samples agree with it. Otherwise each size is compared
  /// with its graph before a run (compiler/sized/check_sizes.h).
  bool follows_rules = false;

  /// The graph at sizes that there need not be one for. kCancelled: the caller is to end, too.
  Result<std::optional<Graph>> GraphIfAny(const Sizes& sizes) const;

  size_t IndexOf(const std::string& dimension) const;
};

}  // namespace tunec
