// What is known of a model whose sizes are open, before any of its code runs.
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

/// An axis of an input that has the size of a dimension, all by their numbers.
struct SizedAxis {
  int input = 0;
  int axis = 0;
  int dimension = 0;
  bool operator==(const SizedAxis&) const = default;
};

/// Where the outputs lie for any sizes: of each output, of each axis, its parts, the first the
/// slowest (graph/pad/pad_graph.h).
using OutputExtents = std::vector<std::vector<std::vector<SizeFormula>>>;

struct SizedForm {
  std::vector<std::string> dimensions;
  std::vector<TensorSpec> inputs;  // sizes that are open are -1
  std::vector<TensorSpec> outputs;
  std::vector<SizedAxis> open;                  // all axes of inputs that are -1
  std::optional<OutputExtents> output_extents;  // none: nothing can be padded or cut
  /// Of each dimension: whether elements of different positions never meet, so that runs may be
  /// cut.
  std::vector<bool> separable;
  /// Of each dimension: the largest size of which the extents and that are known.
  Sizes most;
  std::vector<ListedSizes> listed;  // of each dimension
  bool operator==(const SizedForm&) const = default;
};

/// An input of a padded model that follows from the sizes.
struct SizedParameter {
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;
  std::vector<SizeFormula> elements;
  bool operator==(const SizedParameter&) const = default;
};

/// What there is code for: sizes, and which dimensions may have less.
struct SizedKey {
  Sizes sizes;
  std::vector<bool> open;
  auto operator<=>(const SizedKey&) const = default;
  bool operator==(const SizedKey&) const = default;
};

/// All dimensions are of these sizes exactly.
SizedKey ExactKey(const Sizes& sizes);
/// Which of a model's code a run of these sizes takes: of the next larger sizes. Where one of them
/// is not the run's own, all dimensions that are not cut may have less.
SizedKey KeyFor(const SizedForm& form, const Sizes& sizes);
/// Whether each size is one that has code of its own.
bool IsListed(const SizedForm& form, const Sizes& sizes);
/// All that KeyFor gives for sizes up to the listed ones and parts that runs are cut into; without
/// output extents the listed sizes exactly. Each once, exact ones first. Requires: all dimensions
/// list some. kResourceLimit: more than `most`.
Result<std::vector<SizedKey>> KeysOf(const SizedForm& form, size_t most);

/// The outputs' shapes. Requires: output extents. kParse where it says what is none.
Result<std::vector<std::vector<int64_t>>> ShapesAt(const SizedForm& form, const Sizes& sizes);

/// The sizes of inputs of these shapes. kInvalidArgument for shapes that are none of the model's.
Result<Sizes> SizesOf(const SizedForm& form, std::span<const std::vector<int64_t>> shapes);

}  // namespace tunec
