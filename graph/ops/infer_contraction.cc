// Type and shape inference for matrix products, convolutions and pools.
#include "graph/ops/infer.h"
#include "ir/size/prove_sizes.h"
#include "ir/size/size_text.h"
#include "ir/sizes.h"

namespace tunec {
namespace {

/// Completes a list attribute and returns it. An absent or empty attribute gets `count` entries of
/// `absent`. Fails unless the list has `count` entries from `least` to 2^32.
Result<std::vector<int64_t>> CompleteInts(const InferenceInput& input, std::string_view name,
                                          size_t count, int64_t absent, int64_t least) {
  std::vector<int64_t> values(count, absent);
  if (input.Has(name) && !input.Ints(name).empty()) values = input.Ints(name);
  if (values.size() != count)
    return Fail(ErrorCode::kInvalidArgument, "{} attribute {} has {} entries, expected {}",
                Name(input.op), name, values.size(), count);
  for (const int64_t value : values)
    if (value < least || value > (int64_t{1} << 32))
      return Fail(ErrorCode::kInvalidArgument, "{} attribute {} holds {}, expected at least {}",
                  Name(input.op), name, value, least);
  (*input.attributes)[std::string(name)] = values;
  return values;
}

/// Checks an entry of a list: a number from `least` to 2^32. An entry with named sizes is assumed
/// to be at least `least`.
Status CheckEntry(const InferenceInput& input, std::string_view list, const Dim& entry,
                  int64_t least) {
  const bool is_huge = entry.AsConstant().value_or(0) > (int64_t{1} << 32);
  if (!is_huge && input.Allows(SizeCondition::Kind::kAtMost, least, entry)) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} {} holds {}, expected at least {}", Name(input.op),
              list, Print(entry), least);
}

/// Completes pads like CompleteInts. They may contain named sizes.
Result<std::vector<Dim>> CompletePads(const InferenceInput& input, size_t count) {
  const auto given = input.attributes->find("pads");
  if (given == input.attributes->end() || SizesOf(given->second).empty()) {
    TUNEC_ASSIGN(const std::vector<int64_t> pads, CompleteInts(input, "pads", count, 0, 0));
    return std::vector<Dim>(pads.begin(), pads.end());
  }
  std::vector<Dim> pads = input.Sizes("pads");
  if (pads.size() != count)
    return Fail(ErrorCode::kInvalidArgument, "{} attribute pads has {} entries, expected {}",
                Name(input.op), pads.size(), count);
  for (const Dim& pad : pads) TUNEC_RETURN_IF_ERROR(CheckEntry(input, "attribute pads", pad, 0));
  return pads;
}

struct Window {
  std::vector<Dim> kernel;
  std::vector<int64_t> strides;
  std::vector<Dim> pads;
  std::vector<int64_t> dilations;

  /// Returns the number of elements that the dilated kernel spans along spatial axis `a`.
  Dim Reach(size_t a) const { return (kernel[a] - 1) * dilations[a] + 1; }
  /// Returns the pads at both ends of spatial axis `a`.
  Dim Pads(size_t a) const { return pads[a] + pads[a + kernel.size()]; }
};

Result<Window> CompleteWindow(const InferenceInput& input, std::vector<Dim> kernel) {
  const size_t axes = kernel.size();
  Window window{.kernel = std::move(kernel)};
  for (const Dim& size : window.kernel) TUNEC_RETURN_IF_ERROR(CheckEntry(input, "kernel", size, 1));
  TUNEC_ASSIGN(window.strides, CompleteInts(input, "strides", axes, 1, 1));
  TUNEC_ASSIGN(window.pads, CompletePads(input, 2 * axes));
  TUNEC_ASSIGN(window.dilations, CompleteInts(input, "dilations", axes, 1, 1));
  return window;
}

/// Returns the number of windows along spatial axis `a` of size `dim`. Fails if no window fits into
/// a fixed size.
Result<Dim> SlideAlong(const InferenceInput& input, const Window& window, size_t a,
                       const Dim& dim) {
  const Dim reach = window.Reach(a), padded = dim + window.Pads(a);
  if (!input.Allows(SizeCondition::Kind::kAtMost, reach, padded))
    return Fail(ErrorCode::kInvalidArgument,
                "{} window does not fit: spatial axis {} is {} with pads, the window reaches {}",
                Name(input.op), a, Print(padded), Print(reach));
  Dim count = Dim::FloorDiv(padded - reach, window.strides[a]) + 1;
  if (window.Pads(a).IsConstant() && reach.IsConstant()) return count;
  // Pads that depend on sizes usually retain the size, or divide it by the stride. The short form
  // equals sizes from other paths, and the next pads that depend on it stay short.
  const Dim divided = Dim::CeilDiv(dim, window.strides[a]);
  return ProveEqual(count, divided, {}) ? divided : count;
}

Status CheckBias(const InferenceInput& input, const Dim& channels) {
  if (!input.HasOperand(2)) return {};
  TUNEC_RETURN_IF_ERROR(RequireSameType(input, 2));
  if (input.operand(2).dims != std::vector<Dim>{channels})
    return Fail(ErrorCode::kInvalidArgument, "{} bias is {}, expected {}", Name(input.op),
                ShapeText(input.operand(2).dims), DimText(channels));
  return {};
}

/// Checks input and weight of a conv or conv_transpose: ranks, types and fixed sizes. Checks that
/// the group is positive.
Status CheckConvolution(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 0, 3, 5));
  const size_t rank = input.operand(0).dims.size();
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 1, rank, rank));
  TUNEC_RETURN_IF_ERROR(RequireSameType(input, 1));
  TUNEC_RETURN_IF_ERROR(RequireFixed(input, 1));
  if (!input.operand(0).dims[1].IsConstant())
    return Fail(ErrorCode::kUnsupported, "{} channels are {}, expected a fixed size",
                Name(input.op), DimText(input.operand(0).dims[1]));
  if (input.Int("group") < 1)
    return Fail(ErrorCode::kInvalidArgument, "{} group is {}, expected at least 1", Name(input.op),
                input.Int("group"));
  return {};
}

std::vector<Dim> KernelOf(const ValueType& weight) {
  return {weight.dims.begin() + 2, weight.dims.end()};
}

struct Matrix {
  std::vector<Dim> batch;
  Dim rows = 1, columns = 1;
};

/// Returns the dimensions as a batch of matrices. A vector is one row on the left and one column on
/// the right, and is never transposed.
Matrix AsMatrix(const std::vector<Dim>& dims, bool left, bool transposed) {
  if (dims.size() == 1) return left ? Matrix{{}, 1, dims[0]} : Matrix{{}, dims[0], 1};
  Matrix matrix{{dims.begin(), dims.end() - 2}, dims[dims.size() - 2], dims[dims.size() - 1]};
  if (transposed) std::swap(matrix.rows, matrix.columns);
  return matrix;
}

}  // namespace

Result<std::vector<ValueType>> InferMatmul(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 0, 1, 32));
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 1, 1, 32));
  TUNEC_RETURN_IF_ERROR(RequireSameType(input, 1));
  const auto& lhs = input.operand(0).dims;
  const auto& rhs = input.operand(1).dims;
  const Matrix a = AsMatrix(lhs, true, input.Int("transpose_a") != 0);
  const Matrix b = AsMatrix(rhs, false, input.Int("transpose_b") != 0);
  if (!input.Allows(SizeCondition::Kind::kEqual, a.columns, b.rows))
    return Fail(ErrorCode::kInvalidArgument, "matmul inner sizes differ: lhs is {}{}, rhs is {}{}",
                ShapeText(lhs), input.Int("transpose_a") != 0 ? " transposed" : "", ShapeText(rhs),
                input.Int("transpose_b") != 0 ? " transposed" : "");
  auto dims = Broadcast(input, a.batch, b.batch);
  if (!dims) return Fail(ErrorCode::kInvalidArgument, "matmul batch {}", dims.error().message);
  if (lhs.size() > 1) dims->push_back(a.rows);
  if (rhs.size() > 1) dims->push_back(b.columns);
  return std::vector<ValueType>{{input.operand(0).type, std::move(*dims)}};
}

Result<std::vector<ValueType>> InferConv(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(CheckConvolution(input));
  const auto& x = input.operand(0).dims;
  const auto& w = input.operand(1).dims;
  const int64_t group = input.Int("group");
  const int64_t channels = x[1].Value(), filters = w[0].Value(), taken = w[1].Value();
  if (MultiplySizes(taken, group) != channels)
    return Fail(
        ErrorCode::kInvalidArgument,
        "conv channels differ: input is {} with {} channels, weight is {} in {} group(s), for {}",
        ShapeText(x), channels, ShapeText(w), group, MultiplySizes(taken, group));
  if (filters % group != 0)
    return Fail(ErrorCode::kInvalidArgument, "conv has {} filters, expected a multiple of group {}",
                filters, group);
  TUNEC_RETURN_IF_ERROR(CheckBias(input, w[0]));
  TUNEC_ASSIGN(const Window window, CompleteWindow(input, KernelOf(input.operand(1))));
  std::vector<Dim> dims = {x[0], w[0]};
  for (size_t a = 0; a < window.kernel.size(); ++a) {
    TUNEC_ASSIGN(Dim dim, SlideAlong(input, window, a, x[a + 2]));
    dims.push_back(std::move(dim));
  }
  return std::vector<ValueType>{{input.operand(0).type, std::move(dims)}};
}

Result<std::vector<ValueType>> InferConvTranspose(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(CheckConvolution(input));
  const auto& x = input.operand(0).dims;
  const auto& w = input.operand(1).dims;
  const int64_t group = input.Int("group");
  if (w[0] != x[1] || x[1].Value() % group != 0)
    return Fail(ErrorCode::kInvalidArgument,
                "conv_transpose channels differ: input is {}, weight is {}, group is {}",
                ShapeText(x), ShapeText(w), group);
  const Dim filters(MultiplySizes(w[1].Value(), group));
  TUNEC_RETURN_IF_ERROR(CheckBias(input, filters));
  TUNEC_ASSIGN(const Window window, CompleteWindow(input, KernelOf(input.operand(1))));
  const size_t axes = window.kernel.size();
  TUNEC_ASSIGN(const std::vector<int64_t> extra, CompleteInts(input, "output_padding", axes, 0, 0));
  std::vector<Dim> dims = {x[0], filters};
  for (size_t a = 0; a < axes; ++a) {
    const Dim size =
        (x[a + 2] - 1) * window.strides[a] + (window.Reach(a) + extra[a] - window.Pads(a));
    if (!input.Allows(SizeCondition::Kind::kAtMost, 1, size))
      return Fail(ErrorCode::kInvalidArgument,
                  "conv_transpose pads leave {} of spatial axis {}, expected at least 1",
                  Print(size), a);
    dims.push_back(size);
  }
  return std::vector<ValueType>{{input.operand(0).type, std::move(dims)}};
}

Result<std::vector<ValueType>> InferPool(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 0, 3, 5));
  const auto& x = input.operand(0).dims;
  const std::vector<Dim> kernel = input.Sizes("kernel");
  if (kernel.size() + 2 != x.size())
    return Fail(ErrorCode::kInvalidArgument,
                "{} kernel has {} entries, expected {} for an input of {}", Name(input.op),
                kernel.size(), x.size() - 2, ShapeText(x));
  TUNEC_ASSIGN(const Window window, CompleteWindow(input, kernel));
  std::vector<Dim> dims = {x[0], x[1]};
  for (size_t a = 0; a < kernel.size(); ++a) {
    TUNEC_ASSIGN(Dim dim, SlideAlong(input, window, a, x[a + 2]));
    dims.push_back(std::move(dim));
  }
  return std::vector<ValueType>{{input.operand(0).type, std::move(dims)}};
}

}  // namespace tunec
