// Padding: a model at a larger size computes the results of the same model at a smaller size. An
// element of a padded value is exact if it belongs to the value at the smaller size. The analysis
// tracks exact elements from inputs to outputs. Some operators mix elements along a padded axis:
// sums, softmax, attention, windows. Their operands get neutral elements at positions along this
// axis that are not exact. The padded graph finds these positions by comparing positions with
// sizes, which are inputs. So the padded graph gives the exact graph's results whatever the padding
// contains, even NaN.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"
#include "support/error.h"
#include "support/size_expression.h"

namespace tunec {

/// An input's axis, which can be shorter in a run than in the padded graph.
struct OpenAxis {
  int input = 0;  // number of the input
  int axis = 0;
  std::string dimension;  // axes with the same name have the same size
};

/// A part of an axis: `padded` positions, of which the first `exact` belong to the exact value.
struct PaddedExtent {
  int64_t padded = 1;
  int64_t exact = 1;
  /// `exact` as a function of the dimensions' sizes; empty if no rule gives it.
  SizeExpression formula = {};
  bool operator==(const PaddedExtent& other) const {
    return padded == other.padded && exact == other.exact;
  }
};
/// The parts of an axis, which is their product; the first part varies slowest. For example,
/// [batch, length] flattened to one axis has two parts.
using PaddedAxis = std::vector<PaddedExtent>;

/// An additional input of the padded graph, and its value for the sizes of the exact graph.
struct SizeParameter {
  std::string name;
  Array value;
  /// The elements of `value` as functions of the dimensions' sizes; empty unless all are known.
  std::vector<SizeExpression> formulas;
};

struct PaddedGraph {
  Graph graph;  // inputs: the model's, then `parameters` in order
  std::vector<SizeParameter> parameters;
  std::vector<std::vector<PaddedAxis>> outputs;  // exact and padded extents, by output and axis
  /// Names of the dimensions along which a run may be split. No operator mixes elements along them
  /// or depends on their size, except for masking the padding. So elements of different positions
  /// never interact.
  std::vector<std::string> separable;
  /// Names of the open dimensions. A SizeExpression refers to a dimension by its index here.
  std::vector<std::string> dimensions;
  /// Formulas of derived sizes, which follow from the dimensions' sizes, such as length / 2.
  std::vector<SizeExpression> sizes;
};

/// Makes the padded graph. `exact` and `bucket` are one model at two sets of sizes, where each
/// exact size is at most the bucket's. Both have the same nodes in the same order, as a front end
/// makes them from one file. If the padded graphs for two exact sizes have equal text, one graph
/// serves both sizes. Errors: kUnsupported, for example for a node that cannot be padded or that
/// differs; kInvalidArgument if the sizes of an input contradict `open` or do not fit the bucket's.
///
/// `samples` are the model at further sizes. A number that differs in a sample counts as dependent
/// on the sizes, and the number's formula must hold in all samples. Without samples, only `exact`
/// and `bucket` show whether a number depends on the sizes.
Result<PaddedGraph> PadGraph(const Graph& exact, const Graph& bucket,
                             std::span<const OpenAxis> open, std::span<const Graph> samples = {});

}  // namespace tunec
