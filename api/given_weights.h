// The weights of a graph from tensors that the caller of the C interface has.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/include/tunec/tunec.h"
#include "graph/text/weights.h"

namespace tunec {

/// Weights where they lie: the bytes have to stay for as long as anyone has the arrays. What says
/// where they lie is copied.
class GivenWeights : public WeightSource {
 public:
  /// Fails with kInvalidArgument for a null pointer, a name that is there twice, and a shape that
  /// cannot be read. A weight that the text does not name is checked, too.
  static Result<GivenWeights> Make(size_t count, const char* const* names,
                                   const DLTensor* const* tensors);

  /// kNotFound without a weight of this name, kInvalidArgument for one of another type or shape, on
  /// another device, with strides, or at an address that is not aligned to the element.
  Result<Array> Reserve(const WeightRequest& request) const override;

 private:
  struct Description {
    DLTensor tensor;
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;  // empty: none
    DLTensor WithOwnShape() const;
  };
  std::map<std::string, Description, std::less<>> tensors_;
};

}  // namespace tunec
