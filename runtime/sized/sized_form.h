// Description of a dynamic-shape model, known before any of its code runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/data_type.h"
#include "runtime/sized/choose_sizes.h"
#include "runtime/sized/size_formula.h"
#include "runtime/tensor_spec.h"
#include "support/error.h"

namespace tunec {

/// An axis of an input whose size is a dimension, all given by number.
struct SizedAxis {
  int input = 0;
  int axis = 0;
  int dimension = 0;
  bool operator==(const SizedAxis&) const = default;
};

/// Formulas of the output shapes: per output, per axis, the factors of the extent, the slowest
/// first (graph/pad/pad_graph.h).
using OutputExtents = std::vector<std::vector<std::vector<SizeFormula>>>;

/// The description of a dynamic-shape model.
struct SizedForm {
  std::vector<std::string> dimensions;
  std::vector<TensorSpec> inputs;  // dynamic sizes are -1
  std::vector<TensorSpec> outputs;
  std::vector<SizedAxis> open;                  // all axes of inputs that are -1
  std::optional<OutputExtents> output_extents;  // none: runs cannot be padded or split
  /// Per dimension: elements of different positions are independent, so runs may be split.
  std::vector<bool> separable;
  /// Per dimension: the largest size for which output shapes and separability were verified.
  Sizes most;
  std::vector<ListedSizes> listed;  // per dimension
  bool operator==(const SizedForm&) const = default;
};

/// An input of a padded model whose value is computed from the sizes.
struct SizedParameter {
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;
  std::vector<SizeFormula> elements;
  bool operator==(const SizedParameter&) const = default;
};

/// The sizes of some code, and flags of the dimensions along which it also serves smaller sizes.
struct SizedKey {
  Sizes sizes;
  std::vector<bool> open;
  auto operator<=>(const SizedKey&) const = default;
  bool operator==(const SizedKey&) const = default;
};

/// Returns the key of code for exactly these sizes.
SizedKey ExactKey(const Sizes& sizes);
/// Returns the key of the code for a run of these sizes: that of the next larger sizes. If one of
/// them differs from the run's size, all dimensions that are not split may have smaller sizes.
SizedKey KeyFor(const SizedForm& form, const Sizes& sizes);
/// Returns whether each size is listed with exact code.
bool IsListed(const SizedForm& form, const Sizes& sizes);
/// Returns all results of KeyFor for sizes up to the listed ones and for the parts of split runs;
/// without output extents only the exact listed sizes. Each key occurs once; exact keys are first.
/// Requires: every dimension has listed sizes. Fails with kResourceLimit for more than `most` keys.
Result<std::vector<SizedKey>> KeysOf(const SizedForm& form, size_t most);

/// Returns the outputs' shapes. Requires: output extents. Fails with kParse if a formula gives an
/// invalid extent.
Result<std::vector<std::vector<int64_t>>> ShapesAt(const SizedForm& form, const Sizes& sizes);

/// Returns the sizes of inputs of these shapes. Fails with kInvalidArgument if the model does not
/// accept the shapes.
Result<Sizes> SizesOf(const SizedForm& form, std::span<const std::vector<int64_t>> shapes);

}  // namespace tunec
