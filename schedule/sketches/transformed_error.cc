#include "schedule/sketches/transformed_error.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "ir/rounding.h"

namespace tunec {
namespace {

// Bounds of a value's magnitude and of its error.
struct Bounded {
  double magnitude = 0;
  double error = 0;
};

Bounded Rounded(const Bounded& value, DataType type) {
  return {value.magnitude, value.error + RoundingOf(type) * value.magnitude};
}

using BoundOfRead = std::function<std::optional<Bounded>(int slot)>;

// Returns bounds for an expression by running error analysis. Returns nothing for an expression
// that is not a sum with constant factors.
std::optional<Bounded> BoundOf(const Expr& expr, const BoundOfRead& read) {
  if (expr.kind() == ExprKind::kRead) return read(expr.node().slot);
  if (expr.IsConstant()) return Bounded{.magnitude = std::abs(expr.node().float_value)};
  std::vector<Bounded> operands;
  for (const Expr& operand : expr.operands()) {
    const std::optional<Bounded> bounded = BoundOf(operand, read);
    if (!bounded) return std::nullopt;
    operands.push_back(*bounded);
  }
  if (expr.kind() == ExprKind::kCast) {
    const bool loses = SizeOf(expr.type()) < SizeOf(expr.operands()[0].type());
    return loses ? Rounded(operands[0], expr.type()) : operands[0];
  }
  if (expr.Is(ScalarOp::kNeg)) return operands[0];
  if (expr.Is(ScalarOp::kAdd) || expr.Is(ScalarOp::kSub)) {
    return Rounded(
        {operands[0].magnitude + operands[1].magnitude, operands[0].error + operands[1].error},
        expr.type());
  }
  const auto is_constant = [](const Expr& operand) { return operand.IsConstant(); };
  const bool scales = expr.Is(ScalarOp::kMul) && std::ranges::any_of(expr.operands(), is_constant);
  if (!scales) return std::nullopt;
  return Rounded(
      {operands[0].magnitude * operands[1].magnitude,
       operands[0].magnitude * operands[1].error + operands[0].error * operands[1].magnitude},
      expr.type());
}

const Statement* WriterOf(const Compute& compute, TensorId tensor) {
  const auto found = std::ranges::find_if(compute.statements, [&](const Statement& statement) {
    return statement.writes[0].tensor == tensor;
  });
  return found == compute.statements.end() ? nullptr : &*found;
}

// The bounds for each plane of an operand or of the sums.
using Planes = std::vector<Bounded>;

// Returns bounds for the planes of an operand, if the elements before the transform have magnitude
// 1. Returns nothing if no statement computes the planes, or if a plane is not a sum with constant
// factors.
std::optional<Planes> PlanesOf(const TransformedPlan& plan, const Read& operand) {
  const Compute& compute = *plan.compute;
  const Statement* const writer = WriterOf(compute, operand.tensor);
  const auto plane = std::ranges::find_if(
      operand.index, [&](const IndexExpr& index) { return index.AsVar() == plan.plane; });
  if (writer == nullptr || plane == operand.index.end()) return std::nullopt;
  const auto dimension = static_cast<size_t>(plane - operand.index.begin());
  Planes planes(plan.Extent(plan.plane));
  for (size_t k = 0; k < writer->writes.size(); ++k) {
    const IndexExpr& at = writer->writes[k].index[dimension];
    const auto bounded = BoundOf(writer->values[k], [](int) { return Bounded{.magnitude = 1}; });
    if (!at.IsConstant() || !bounded) return std::nullopt;
    planes.at(at.constant()) = *bounded;
  }
  return planes;
}

// Returns the largest number of successive additions to one element of a sum.
double LongestChain(const TransformedPlan& plan) {
  const int64_t products = plan.Extent(plan.reduced);
  if (!plan.pieces) return static_cast<double>(products);
  return static_cast<double>(plan.pieces->products + CeilDivide(products, plan.pieces->length));
}

// Returns bounds for the planes of sums, divided by the number of products in each sum.
std::optional<Planes> SumsOf(const TransformedPlan& plan) {
  const std::optional<Planes> a = PlanesOf(plan, plan.sum.reads[0]);
  const std::optional<Planes> b = PlanesOf(plan, plan.sum.reads[1]);
  if (!a || !b) return std::nullopt;
  const double added = LongestChain(plan) * RoundingOf(DataType::kF32);
  Planes sums;
  for (size_t t = 0; t < a->size(); ++t) {
    const Bounded& x = (*a)[t];
    const Bounded& y = (*b)[t];
    const double product = x.magnitude * y.magnitude;
    sums.push_back({product, x.error * y.magnitude + x.magnitude * y.error + added * product});
  }
  return sums;
}

}  // namespace

std::optional<TransformedError> ErrorOf(const TransformedPlan& plan, double products) {
  const std::optional<Planes> sums = SumsOf(plan);
  if (!sums) return std::nullopt;
  const Compute& compute = *plan.compute;
  const Statement& back = compute.statements[*compute.FindStatement(plan.back)];
  const auto plane_of = [&](int slot) -> std::optional<Bounded> {
    const std::vector<IndexExpr>& index = back.reads[slot].index;
    for (size_t d = 0; d < index.size(); ++d) {
      if (plan.sum.writes[0].index[d].AsVar() == plan.plane) return sums->at(index[d].constant());
    }
    return std::nullopt;
  };
  TransformedError largest;
  for (const Expr& value : back.values) {
    const std::optional<Bounded> result = BoundOf(value, plane_of);
    if (!result) return std::nullopt;
    largest.growth = std::max(largest.growth, result->magnitude / products);
    largest.bound = std::max(largest.bound, result->error / products);
  }
  return largest;
}

bool MayTransform(const TransformedPlan& plan, double products, const RoundingFreedom& rounding) {
  const std::optional<TransformedError> error = ErrorOf(plan, products);
  if (!error) return false;
  return error->growth <= products || error->bound <= rounding.allowed_error;
}

}  // namespace tunec
