// A model at one size, computed by the same model at a larger one. Which elements of a padded value
// are those of the exact one is followed from the inputs to the outputs. An operator that mixes
// elements along a padded axis (a sum, softmax, attention, a window) is given operands in which the
// others are neutral, and they are told apart by comparing positions with sizes that are inputs.
// So a padded graph gives the exact graph's results whatever the elements beyond hold, NaN
// included.
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

/// An axis of an input that a run may have less of than the padded graph.
struct OpenAxis {
  int input = 0;  // its number
  int axis = 0;
  std::string dimension;  // axes of one name have one size
};

/// A part of an axis: `padded` positions, the first `exact` of which are the exact value's.
struct PaddedExtent {
  int64_t padded = 1;
  int64_t exact = 1;
  /// `exact` of the dimensions' sizes; empty where no rule says it.
  SizeExpression formula = {};
  bool operator==(const PaddedExtent& other) const {
    return padded == other.padded && exact == other.exact;
  }
};
/// An axis is the product of its parts, the first the slowest: rows of [batch, length] as one axis
/// are two parts.
using PaddedAxis = std::vector<PaddedExtent>;

/// An input of the padded graph beyond those of the exact one, and what it holds for these sizes.
struct SizeParameter {
  std::string name;
  Array value;
  /// Its elements of the dimensions' sizes; none where no rule says it.
  std::vector<SizeExpression> formulas;
};

struct PaddedGraph {
  Graph graph;  // its inputs: the bucket's, then `parameters` in order
  std::vector<SizeParameter> parameters;
  std::vector<std::vector<PaddedAxis>> outputs;  // where the exact outputs lie, axis by axis
  /// Dimensions along which no operator mixes elements or asks for the size, but for what lies
  /// beyond: elements of different positions never meet, so that a run may be done in parts.
  std::vector<std::string> separable;
  /// What expressions number, in the order in which the open axes have them.
  std::vector<std::string> dimensions;
  /// All sizes that the graph has which are no dimensions, where a rule says what they are.
  std::vector<SizeExpression> sizes;
};

/// `exact` and `bucket` are one model at two sets of sizes, each at most the bucket's: the same
/// nodes in the same order, as a front end makes them of one file. The graph depends on the exact
/// sizes through the parameters' values alone as long as the result's texts are equal, which
/// callers compare. kUnsupported names the node that cannot be padded, or that differs.
///
/// `samples` are the model at further sizes. What differs in one of them is taken to depend on the
/// sizes, and a formula is given that holds in all of them; without, whether a 7 is another number
/// at other sizes is told by two graphs alone.
Result<PaddedGraph> PadGraph(const Graph& exact, const Graph& bucket,
                             std::span<const OpenAxis> open, std::span<const Graph> samples = {});

}  // namespace tunec
