// Import of matrix products and determinants.
#include <array>
#include <optional>

#include "graph/onnx/handlers/einsum.h"
#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

/// Emits numpy's matmul. A vector on the left is a row, a vector on the right a column; the result
/// omits the axes added for vectors.
Result<Operand> Matmul(const NodeContext& node, Operand a, Operand b) {
  TUNEC_RETURN_IF_ERROR(node.RequireRank(a, 1, kMostAxes));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(b, 1, kMostAxes));
  const bool row = a->rank() == 1;
  const bool column = b->rank() == 1;
  if (row) {
    TUNEC_ASSIGN(const auto size, node.Dims<1>(a));
    TUNEC_ASSIGN(a, node.Reshape(a, {1, size[0]}));
  }
  if (column) {
    TUNEC_ASSIGN(const auto size, node.Dims<1>(b));
    TUNEC_ASSIGN(b, node.Reshape(b, {size[0], 1}));
  }
  TUNEC_ASSIGN(const Operand product, node.Emit(Op::kMatmul, {a, b}));
  std::vector<Dim> shape = product->shape;
  if (row) shape.erase(shape.end() - 2);
  if (column) shape.erase(shape.end() - 1);
  return node.Reshape(product, shape);
}

Result<Operands> MatMul(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand a, node.Input(0));
  TUNEC_ASSIGN(const Operand b, node.Input(1));
  return One(Matmul(node, a, b));
}

Result<Operand> Scaled(const NodeContext& node, const Operand& x, double factor) {
  if (factor == 1) return x;
  return node.Emit(Op::kMul, {x, node.Scalar(factor, x->type)});
}

/// Imports Gemm: alpha * A' * B' + beta * C, where C may be omitted. A' and B' are A and B, each
/// transposed on request.
Result<Operands> Gemm(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand a, node.Input(0));
  TUNEC_ASSIGN(const Operand b, node.Input(1));
  if (a->rank() != 2 || b->rank() != 2) {
    return Fail(ErrorCode::kInvalidArgument, "operands have ranks {} and {}, expected 2", a->rank(),
                b->rank());
  }
  TUNEC_ASSIGN(const double alpha, node.Float("alpha", 1));
  TUNEC_ASSIGN(const double beta, node.Float("beta", 1));
  TUNEC_ASSIGN(const int64_t transpose_a, node.Int("transA", 0));
  TUNEC_ASSIGN(const int64_t transpose_b, node.Int("transB", 0));
  TUNEC_ASSIGN(const Operand product, node.Emit(Op::kMatmul, {a, b},
                                                {{"transpose_a", int64_t{transpose_a != 0}},
                                                 {"transpose_b", int64_t{transpose_b != 0}}}));
  TUNEC_ASSIGN(const Operand left, Scaled(node, product, alpha));
  if (!node.HasInput(2) || beta == 0) return Operands{left};
  TUNEC_ASSIGN(const Operand right, Scaled(node, node.OptionalInput(2), beta));
  TUNEC_ASSIGN(const Operand sum, node.Emit(Op::kAdd, {left, right}));
  TUNEC_ASSIGN(const bool fits, NodeContext::HaveEqualShapes(sum, product));
  if (!fits) {
    return Fail(ErrorCode::kInvalidArgument, "input 2 does not broadcast to the product");
  }
  return Operands{sum};
}

/// Imports com.microsoft's batched product alpha * A' * B'. A' and B' are A and B, each transposed
/// in the last two axes on request.
Result<Operands> FusedMatMul(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand a, node.Input(0));
  TUNEC_ASSIGN(const Operand b, node.Input(1));
  TUNEC_ASSIGN(const double alpha, node.Float("alpha", 1));
  TUNEC_ASSIGN(const int64_t transpose_a, node.Int("transA", 0));
  TUNEC_ASSIGN(const int64_t transpose_b, node.Int("transB", 0));
  for (const std::string_view name : {"transBatchA", "transBatchB"}) {
    TUNEC_ASSIGN(const int64_t transposes_batch, node.Int(name, 0));
    if (transposes_batch != 0) return Fail(ErrorCode::kUnsupported, "{} is not supported", name);
  }
  if (a->rank() < 2 || b->rank() < 2) {
    return Fail(ErrorCode::kUnsupported, "operands of rank 1 are not supported");
  }
  TUNEC_ASSIGN(const Operand product, node.Emit(Op::kMatmul, {a, b},
                                                {{"transpose_a", int64_t{transpose_a != 0}},
                                                 {"transpose_b", int64_t{transpose_b != 0}}}));
  return One(Scaled(node, product, alpha));
}

/// Returns an integer operand as i32, minus the zero point unless that input is omitted.
Result<Operand> Centered(const NodeContext& node, size_t input, size_t zero_point, bool rows) {
  TUNEC_ASSIGN(const Operand x, node.Input(input));
  TUNEC_ASSIGN(Operand wide, node.Cast(x, DataType::kI32));
  if (!node.HasInput(zero_point)) return wide;
  TUNEC_ASSIGN(Operand zero, node.Cast(node.OptionalInput(zero_point), DataType::kI32));
  if (rows && x->rank() > 1 && zero->rank() == 1) {  // one zero point per row of the left operand
    TUNEC_ASSIGN(const auto count, node.Dims<1>(zero));
    TUNEC_ASSIGN(zero, node.Reshape(zero, {count[0], 1}));
  }
  TUNEC_ASSIGN(Operand centered, node.Emit(Op::kSub, {wide, zero}));
  TUNEC_ASSIGN(const bool fits, NodeContext::HaveEqualShapes(centered, x));
  if (fits) return centered;
  return Fail(ErrorCode::kInvalidArgument, "{}, which does not broadcast to the operand",
              node.Describe(node.OptionalInput(zero_point)));
}

Result<Operands> MatMulInteger(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand a, Centered(node, 0, 2, true));
  TUNEC_ASSIGN(const Operand b, Centered(node, 1, 3, false));
  return One(Matmul(node, a, b));
}

/// Returns determinants of parts of the n x n matrices in the last two axes of x. A part has the
/// given columns and as many of the last rows. A determinant is expanded along its first row.
Formula Determinant(const Formula& x, int64_t n, const std::vector<int64_t>& columns) {
  const auto row = n - static_cast<int64_t>(columns.size());
  const auto term = [&](size_t i) {
    std::vector<int64_t> rest = columns;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const Formula factor = x.At(-2, row).At(-1, columns[i]);
    return rest.empty() ? factor : factor * Determinant(x, n, rest);
  };
  Formula sum = term(0);
  for (size_t i = 1; i < columns.size(); ++i) sum = i % 2 == 0 ? sum + term(i) : sum - term(i);
  return sum;
}

Result<Operands> Det(const NodeContext& node, Op) {
  constexpr int64_t kMostRows = 4;  // the number of terms grows as the factorial
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t rows, node.Extent(x, -2));
  TUNEC_ASSIGN(const int64_t columns, node.Extent(x, -1));
  if (rows != columns || rows < 1) {
    return Fail(ErrorCode::kInvalidArgument, "{}, expected square matrices", node.Describe(x));
  }
  if (rows > kMostRows) {
    return Fail(ErrorCode::kUnsupported, "determinants of {} rows, expected at most {}", rows,
                kMostRows);
  }
  return Results({Determinant(Formula(node, x), rows, AllAxes(rows))});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Det", 11, Det, Op::kMatmul},
    {"Einsum", 12, Einsum},
    {"FusedMatMul", 1, FusedMatMul, Op::kMatmul, "com.microsoft"},
    {"Gemm", 1, Gemm},
    {"MatMul", 1, MatMul},
    {"MatMulInteger", 10, MatMulInteger},
});

}  // namespace

std::span<const Handler> MatmulHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
