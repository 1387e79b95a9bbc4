// Operators that compute each element from those at its place.
#include <numeric>

#include "graph/pad/padder.h"

namespace tunec::pad {

Result<std::vector<PaddedValue>> PadElementwise(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  std::vector<size_t> inputs(node.num_inputs());
  std::iota(inputs.begin(), inputs.end(), size_t{0});
  TUNEC_ASSIGN(Axes axes, node.UnifyInputs(inputs));
  const bool keeps_zero =
      node.op() == Op::kIdentity || node.op() == Op::kCast || node.op() == Op::kCopy;
  return Lies(std::move(axes), keeps_zero ? node.input(0).zero_beyond : std::set<size_t>{});
}

Result<std::vector<PaddedValue>> PadBatchNorm(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireSameAttributes());
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, 1));
  return Lies(node.axes(0));
}

}  // namespace tunec::pad
