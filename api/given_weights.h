// A source of a graph's weights, for weights that callers of the C interface give as tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/include/tunec/tunec.h"
#include "graph/text/weights.h"

namespace tunec {

/// A source of weights that stay in the caller's memory. The bytes must stay valid as long as any
/// array that Reserve returned exists. The names, shapes and strides are copied.
class GivenWeights : public WeightSource {
 public:
  /// Makes a source from `count` names and tensors; the arrays may be null if `count` is 0. Fails
  /// with kInvalidArgument for a null array, name or tensor, a duplicate name, or a ShapeProblem.
  /// Weights that no graph uses are checked too.
  static Result<GivenWeights> Make(size_t count, const char* const* names,
                                   const DLTensor* const* tensors);

  /// Returns the weight as an array that refers to the caller's memory. Fails with kNotFound if no
  /// weight has this name. Fails with kInvalidArgument if CheckedData rejects the tensor as a
  /// row-major tensor of the host. Also fails with kInvalidArgument if the elements have no data or
  /// are misaligned. An array without elements refers to no memory of the caller.
  Result<Array> Reserve(const WeightRequest& request) const override;

 private:
  struct Description {
    DLTensor tensor;
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;  // empty: dense row-major
    DLTensor WithOwnShape() const;
  };
  std::map<std::string, Description, std::less<>> tensors_;
};

}  // namespace tunec
