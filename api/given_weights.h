// Weights of a graph from the tensors of a caller of the C interface.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/include/tunec/tunec.h"
#include "graph/text/weights.h"

namespace tunec {

/// Weights that are used in place. The bytes must stay valid as long as an array of these weights
/// exists. The names, shapes and strides are copied.
class GivenWeights : public WeightSource {
 public:
  /// Fails with kInvalidArgument for a null pointer, a duplicate name, or a shape that cannot be
  /// read. Weights that the text does not name are checked too.
  static Result<GivenWeights> Make(size_t count, const char* const* names,
                                   const DLTensor* const* tensors);

  /// Returns the weight as an array that refers to the caller's memory. Fails with kNotFound if no
  /// weight has this name. Fails with kInvalidArgument for another type, shape or device, for
  /// strides that are not dense, or for data that is not aligned to the element.
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
