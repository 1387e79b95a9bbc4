// Description of a dynamic-shape model. It is known before any code of the model runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/data_type.h"
#include "ir/size/size_program.h"
#include "runtime/sized/choose_sizes.h"
#include "runtime/tensor_spec.h"
#include "support/error.h"

namespace tunec {

/// A dynamic axis of an input: the numbers of the input, the axis, and the dimension that is the
/// axis's size.
struct SizedAxis {
  int input = 0;
  int axis = 0;
  int dimension = 0;
  bool operator==(const SizedAxis&) const = default;
};

/// The output shapes as functions of the sizes. The extent of each axis of each output is a product
/// of factors; the factor that varies slowest is the first (graph/pad/pad_graph.h).
using OutputExtents = std::vector<std::vector<std::vector<SizeProgram>>>;

/// The dimensions, inputs and outputs of a dynamic-shape model, without its code.
struct SizedForm {
  std::vector<std::string> dimensions;
  std::vector<TensorSpec> inputs;  // dynamic sizes are -1
  std::vector<TensorSpec> outputs;
  std::vector<SizedAxis> open;                  // all axes of inputs that are -1
  std::optional<OutputExtents> output_extents;  // none: runs cannot be padded or split
  /// Per dimension: true if elements at different positions are independent, and no condition has
  /// the dimension. Runs may then be split.
  std::vector<bool> separable;
  std::vector<ListedSizes> listed;  // per dimension
  /// Conditions of padding and splitting. At sizes for which one is false, a run has exact code.
  std::vector<SizeCheck> conditions;
  bool operator==(const SizedForm&) const = default;
};

/// An additional scalar input of a padded model. Its value is computed from the sizes.
struct SizedParameter {
  DataType type = DataType::kI64;
  SizeProgram value;
  bool operator==(const SizedParameter&) const = default;
};

/// The sizes of compiled code, and a flag per dimension: true if the code also serves smaller sizes
/// along the dimension.
struct SizedKey {
  Sizes sizes;
  std::vector<bool> open;

  /// Returns whether the code serves only these sizes.
  bool IsExact() const;
  auto operator<=>(const SizedKey&) const = default;
  bool operator==(const SizedKey&) const = default;
};

/// Returns the key of code for exactly these sizes.
SizedKey ExactKey(const Sizes& sizes);
/// Returns the key of the code for a run of these sizes. Without output extents, with a false
/// condition, or if all sizes are listed with exact code, the key is exact. Otherwise the key's
/// sizes are those of BucketOf; a separable dimension without listed sizes retains the exact size.
/// If the code serves smaller sizes along one dimension that is not separable, the code serves
/// smaller sizes along all such dimensions with a shared bucket.
SizedKey KeyFor(const SizedForm& form, const Sizes& sizes);
/// Returns whether runs of these sizes can be padded and split.
bool CanPad(const SizedForm& form, const Sizes& sizes);
/// Returns the error for a condition that is false. It names the sizes of the condition, and the
/// first input's axis of each.
Error FailedCondition(const SizedForm& form, const SizeCheck& condition, const Sizes& sizes);
/// Returns true if every dimension lists the size with exact code.
bool IsListed(const SizedForm& form, const Sizes& sizes);
/// Returns all results of KeyFor for sizes up to the listed ones and for the parts of split runs;
/// without output extents, the exact keys of listed sizes. Each key occurs once, exact keys first.
/// Requires: every dimension has listed sizes. Fails with kResourceLimit for more than `most` keys,
/// or for more than 4 * `most` combinations of sizes.
Result<std::vector<SizedKey>> KeysOf(const SizedForm& form, size_t most);

/// Returns the outputs' shapes. Requires: output extents. Fails with kParse if an axis has no valid
/// extent, and with kInvalidArgument if an output is too large.
Result<std::vector<std::vector<int64_t>>> ShapesAt(const SizedForm& form, const Sizes& sizes);

/// Returns each dimension's size for inputs of these shapes. Fails with kInvalidArgument if the
/// shapes do not match the form.
Result<Sizes> SizesOf(const SizedForm& form, std::span<const std::vector<int64_t>> shapes);

}  // namespace tunec
