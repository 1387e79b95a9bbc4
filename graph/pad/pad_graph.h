// Padding: a graph at larger sizes computes the results of the same graph at smaller sizes. An
// element of a padded value is exact if it belongs to the value at the smaller sizes. The analysis
// tracks exact elements from inputs to outputs. Some operators mix elements along a padded axis:
// sums, softmax, attention, windows. Their operands get neutral elements at positions along this
// axis that are not exact. The padded graph finds these positions by comparing positions with
// sizes, which are inputs. So the padded graph gives the exact graph's results whatever the padding
// contains, even NaN.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/data_type.h"
#include "ir/size/size_condition.h"
#include "ir/size/size_expr.h"
#include "support/error.h"

namespace tunec {

/// A part of an axis: `padded` positions, of which the first `exact` belong to the exact value.
struct PaddedExtent {
  int64_t padded = 1;
  SizeExpr exact = 1;
  bool operator==(const PaddedExtent&) const = default;
};
/// The parts of an axis, which is their product; the first part varies slowest. For example,
/// [batch, length] flattened to one axis has two parts.
using PaddedAxis = std::vector<PaddedExtent>;

/// An additional scalar input of the padded graph, and its value as an expression of the sizes.
struct SizeParameter {
  std::string name;
  DataType type = DataType::kI64;
  SizeExpr value;
};

struct PaddedGraph {
  Graph graph;  // inputs: the model's, then `parameters` in order
  std::vector<SizeParameter> parameters;
  std::vector<std::vector<PaddedAxis>> outputs;  // exact and padded extents, by output and axis
  /// Names of the sizes along which a run may be split. No operator mixes elements along them or
  /// depends on them, except for masking the padding. So elements of different positions never
  /// interact.
  std::set<std::string> separable;
  /// Conditions that must hold besides ConditionsOf(named). Where one is false, the padded graph
  /// may be wrong.
  std::vector<SizeCondition> conditions;
};

/// Makes a graph of the sizes `bucket` that computes `named` at all sizes from 1 to those of
/// `bucket` for which all conditions hold. Requires: each named size of the graph has a size of at
/// least 1 in `bucket`. Errors: kUnsupported with the reason, such as a node without a rule, and
/// those of Specialize.
Result<PaddedGraph> PadGraph(const Graph& named, const SizeValues& bucket);

}  // namespace tunec
