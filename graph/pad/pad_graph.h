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
  bool operator==(const PaddedExtent&) const = default;
};
/// An axis is the product of its parts, the first the slowest: rows of [batch, length] as one axis
/// are two parts.
using PaddedAxis = std::vector<PaddedExtent>;

/// An input of the padded graph beyond those of the exact one, and what it holds for these sizes.
struct SizeParameter {
  std::string name;
  Array value;
};

struct PaddedGraph {
  Graph graph;  // its inputs: the bucket's, then `parameters` in order
  std::vector<SizeParameter> parameters;
  std::vector<std::vector<PaddedAxis>> outputs;  // where the exact outputs lie, axis by axis
  /// Dimensions along which no operator mixes elements or asks for the size: elements of different
  /// positions never meet, so that a run may be done in parts.
  std::vector<std::string> separable;
};

/// `exact` and `bucket` are one model at two sets of sizes, each at most the bucket's: the same
/// nodes in the same order, as a front end makes them of one file. The graph depends on the exact
/// sizes through the parameters' values alone as long as the result's texts are equal, which
/// callers compare. kUnsupported names the node that cannot be padded, or that differs.
Result<PaddedGraph> PadGraph(const Graph& exact, const Graph& bucket,
                             std::span<const OpenAxis> open);

}  // namespace tunec
