// Rules that pad elementwise operators and batch_norm. Each result depends only on operands'
// elements at the same position.
#include <numeric>
#include <set>

#include "graph/pad/padder.h"

namespace tunec::pad {
namespace {

// Replaces divisors of integers by 1 at positions that are not exact, because an integer division
// by 0 is an error. Constant divisors stay.
Status KeepDivisors(PaddedNode& node) {
  if (node.op() != Op::kDiv && node.op() != Op::kMod) return {};
  if (IsFloat(node.builder().TypeOf(node.input(1).value).type)) return {};
  if (node.padder().bucket().ConstantOf(node.bucket().inputs[1]) != nullptr) return {};
  std::set<size_t> all;
  for (size_t a = 0; a < node.axes(1).size(); ++a) all.insert(a);
  return node.MaskInput(1, all, 1);
}

}  // namespace

Result<std::vector<PaddedValue>> PadElementwise(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  std::vector<size_t> inputs(node.num_inputs());
  std::iota(inputs.begin(), inputs.end(), size_t{0});
  TUNEC_ASSIGN(Axes axes, node.UnifyInputs(inputs));
  TUNEC_RETURN_IF_ERROR(KeepDivisors(node));
  // A cast to integers does not keep `zero_beyond`: elements beyond are NaN if the exact elements
  // are.
  const bool stays_float =
      IsFloat(node.padder().bucket().value(node.bucket().outputs[0]).type.type);
  const bool keeps_zero = node.op() == Op::kIdentity || node.op() == Op::kCopy ||
                          (node.op() == Op::kCast && stays_float);
  return WithAxes(std::move(axes), keeps_zero ? node.input(0).zero_beyond : std::set<size_t>{});
}

Result<std::vector<PaddedValue>> PadBatchNorm(PaddedNode& node) {
  TUNEC_RETURN_IF_ERROR(node.RequireFixedAttributes());
  TUNEC_RETURN_IF_ERROR(node.RequireFixed(0, 1));
  return WithAxes(node.axes(0));
}

}  // namespace tunec::pad
