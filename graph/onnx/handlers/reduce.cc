// Handlers of reductions, global pools, ArgMax, ArgMin, CumSum and CumProd.
#include <algorithm>
#include <array>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

/// Returns the axes, or an empty list if none are given. The axes are an attribute before opset 13
/// (ReduceSum) or 18 (all other reductions), later an input.
Result<std::vector<int64_t>> Axes(const NodeContext& node, int64_t rank) {
  std::vector<int64_t> axes;
  if (node.HasAttribute("axes")) {
    TUNEC_ASSIGN(axes, node.Ints("axes", {}));
  } else if (node.HasInput(1)) {
    TUNEC_ASSIGN(axes, node.ConstantInts(1));
  }
  return NormalizeAxes(std::move(axes), rank);
}

/// Returns a reduction over no axes, which is applied to each element alone.
Result<Operand> OverNoAxes(const NodeContext& node, Op op, const Operand& x) {
  if (op == Op::kReduceL1 || op == Op::kReduceL2) return node.Emit(Op::kAbs, {x});
  if (op == Op::kReduceSumSquare) return node.Emit(Op::kMul, {x, x});
  return x;
}

Result<Operands> Reduce(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand given, node.Input(0));
  // Reduces booleans as the numbers 0 and 1. The maximum is then their logical or, and the minimum
  // is their logical and.
  const bool is_bool = given->type == DataType::kBool;
  TUNEC_ASSIGN(const Operand x, node.Cast(given, is_bool ? DataType::kU8 : given->type));
  TUNEC_ASSIGN(std::vector<int64_t> axes, Axes(node, x->rank()));
  TUNEC_ASSIGN(const int64_t keepdims, node.Int("keepdims", 1));
  TUNEC_ASSIGN(const int64_t noop, node.Int("noop_with_empty_axes", 0));
  const bool none = axes.empty() && noop != 0;
  if (axes.empty()) axes = AllAxes(x->rank());
  const Attributes attributes{{"axes", axes}, {"keepdims", keepdims}};
  TUNEC_ASSIGN(Operand y, none ? OverNoAxes(node, op, x) : node.Emit(op, {x}, attributes));
  if (node.node().op_type == "ReduceLogSum") {
    TUNEC_ASSIGN(y, node.Emit(Op::kLog, {y}));
  }
  return One(node.Cast(y, given->type));
}

Result<Operands> ArgReduce(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 0, x->rank()));
  TUNEC_ASSIGN(const int64_t keepdims, node.Int("keepdims", 1));
  TUNEC_ASSIGN(const int64_t last, node.Int("select_last_index", 0));
  return One(
      node.Emit(op, {x}, {{"axis", axis}, {"keepdims", keepdims}, {"select_last_index", last}}));
}

Result<Operands> CumSum(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t given, node.ConstantInt(1));
  TUNEC_ASSIGN(const int64_t axis, NormalizeAxis(given, x->rank()));
  TUNEC_ASSIGN(const int64_t exclusive, node.Int("exclusive", 0));
  TUNEC_ASSIGN(const int64_t reverse, node.Int("reverse", 0));
  return One(node.Emit(op, {x}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}));
}

/// Imports CumProd. Each product after the first one is the previous product times one element.
Result<Operands> CumProd(const NodeContext& node, Op) {
  constexpr int64_t kMostElements = 1024;  // each element has a node
  TUNEC_ASSIGN(const Operand input, node.Input(0));
  TUNEC_ASSIGN(const int64_t given, node.ConstantInt(1));
  TUNEC_ASSIGN(const int64_t axis, NormalizeAxis(given, input->rank()));
  TUNEC_ASSIGN(const int64_t exclusive, node.Int("exclusive", 0));
  TUNEC_ASSIGN(const int64_t reverse, node.Int("reverse", 0));
  TUNEC_ASSIGN(const int64_t extent, node.Extent(input, axis));
  if (extent == 0) return Operands{input};
  if (extent > kMostElements) {
    return Fail(ErrorCode::kUnsupported, "an axis of {} elements, expected at most {}", extent,
                kMostElements);
  }
  const Formula x(node, input);
  const auto element = [&](int64_t i) {
    const int64_t at = reverse != 0 ? extent - 1 - i : i;
    return x.Slice(axis, at, at + 1);
  };
  const Formula first = element(0);
  Formula product = exclusive != 0 ? first.Number(1).Expand(first.shape()) : first;
  std::vector<Formula> products{product};
  for (int64_t i = 1; i < extent; ++i) {
    product = product * element(exclusive != 0 ? i - 1 : i);
    products.push_back(product);
  }
  if (reverse != 0) std::ranges::reverse(products);
  return Results({Concat(products, axis)});
}

/// Imports global pools, which reduce all axes after batch and channel and keep them with extent 1.
Result<Operands> GlobalPool(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  if (x->rank() < 3) {
    return Fail(ErrorCode::kInvalidArgument, "input has rank {}, expected at least 3", x->rank());
  }
  TUNEC_ASSIGN(const int64_t p, node.Int("p", 2));
  if (node.node().op_type == "GlobalLpPool" && p != 1 && p != 2) {
    return Fail(ErrorCode::kUnsupported, "p is {}, expected 1 or 2", p);
  }
  if (node.node().op_type == "GlobalLpPool" && p == 1) op = Op::kReduceL1;
  std::vector<int64_t> axes = AllAxes(x->rank());
  axes.erase(axes.begin(), axes.begin() + 2);
  return One(node.Emit(op, {x}, {{"axes", axes}, {"keepdims", int64_t{1}}}));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"ArgMax", 1, ArgReduce, Op::kArgMax},
    {"ArgMin", 1, ArgReduce, Op::kArgMin},
    {"CumProd", 26, CumProd},
    {"CumSum", 11, CumSum, Op::kCumSum},
    {"GlobalAveragePool", 1, GlobalPool, Op::kReduceMean},
    {"GlobalLpPool", 2, GlobalPool, Op::kReduceL2},
    {"GlobalMaxPool", 1, GlobalPool, Op::kReduceMax},
    {"ReduceL1", 1, Reduce, Op::kReduceL1},
    {"ReduceL2", 1, Reduce, Op::kReduceL2},
    {"ReduceLogSum", 1, Reduce, Op::kReduceSum},
    {"ReduceLogSumExp", 1, Reduce, Op::kReduceLogSumExp},
    {"ReduceMax", 1, Reduce, Op::kReduceMax},
    {"ReduceMean", 1, Reduce, Op::kReduceMean},
    {"ReduceMin", 1, Reduce, Op::kReduceMin},
    {"ReduceProd", 1, Reduce, Op::kReduceProd},
    {"ReduceSum", 1, Reduce, Op::kReduceSum},
    {"ReduceSumSquare", 1, Reduce, Op::kReduceSumSquare},
});

}  // namespace

std::span<const Handler> ReduceHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
