#include "autotune/checker/order_tolerance.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "autotune/checker/check.h"
#include "autotune/checker/error_bounds.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

constexpr double kMostProducts = 6;  // two operands in three limbs each
constexpr double kLambda = 8;
constexpr double kDeviations = 5;  // standard deviations of a sum of independent roundings

// Returns the tensor from which a factor is read, also through casts; none for other factors.
std::optional<TensorId> TensorOf(const Statement& sum, const Expr& factor) {
  if (factor.kind() == ExprKind::kCast) return TensorOf(sum, factor.operands()[0]);
  if (factor.kind() != ExprKind::kRead) return std::nullopt;
  return sum.reads[factor.node().slot].tensor;
}

// Returns the tensors whose elements depend on sums of floats, directly or indirectly: the sums,
// and tensors written by later statements that read a tensor of this set.
std::set<TensorId> FromSums(const Compute& compute) {
  const std::vector<StatementId> sums = FloatSums(compute);
  std::set<TensorId> found;
  for (const StatementId id : compute.statements.ids()) {
    const Statement& statement = compute.statements[id];
    const bool reads = std::ranges::any_of(
        statement.reads, [&](const Read& read) { return found.contains(read.tensor); });
    if (!reads && std::ranges::find(sums, id) == sums.end()) continue;
    for (const Write& write : statement.writes) found.insert(write.tensor);
  }
  return found;
}

std::optional<double> LargestOf(const Compute& compute, TensorId tensor,
                                std::span<const Array> arguments) {
  size_t position = 0;
  for (const TensorId id : compute.tensors.ids()) {
    const TensorRole role = compute.tensors[id].role;
    if (role != TensorRole::kInput && role != TensorRole::kWeight) continue;
    if (id != tensor) {
      ++position;
      continue;
    }
    return LargestFinite(arguments[position]);
  }
  return std::nullopt;
}

}  // namespace

double OrderTolerance(const Statement& sum) {
  const double roundings = (kMostProducts + 1) * CountTerms(sum);
  return std::min(roundings, kLambda * std::sqrt(roundings)) * RoundingOf(sum.values[0].type());
}

double OrderTolerance(const Compute& compute) {
  double squares = 0;
  for (const StatementId id : FloatSums(compute)) {
    const Statement& sum = compute.statements[id];
    // Sums of 16-bit floats are skipped, since their error has no useful bound.
    if (SizeOf(sum.values[0].type()) < SizeOf(DataType::kF32)) continue;
    squares += std::pow(OrderTolerance(sum), 2);
  }
  return std::sqrt(squares);
}

int ComputedFactors(const Compute& compute, StatementId id) {
  const Statement& sum = compute.statements[id];
  const std::set<TensorId> from_sums = FromSums(compute);
  int count = 0;
  for (const Expr& factor : sum.values[0].operands()) {
    bool computed = false;
    Visit(factor, [&](const Expr& node) {
      if (node.kind() == ExprKind::kRead)
        computed = computed || from_sums.contains(sum.reads[node.node().slot].tensor);
    });
    count += computed ? 1 : 0;
  }
  return count;
}

double RoundingTolerance(int factors, double unit, double squares) {
  return kDeviations * unit * std::sqrt(factors * squares / 3);
}

double FlushTolerance(const Compute& compute, StatementId id, std::span<const Array> arguments) {
  constexpr double kSmallestNormal = 0x1p-126;
  const Statement& sum = compute.statements[id];
  const Expr& product = sum.values[0];
  if (!product.Is(ScalarOp::kMul)) return 0;
  double of_a_product = 2;
  for (const Expr& factor : product.operands()) {
    const std::optional<TensorId> tensor = TensorOf(sum, factor);
    const auto largest = tensor ? LargestOf(compute, *tensor, arguments) : std::nullopt;
    if (!largest) return 0;
    of_a_product += 2 * *largest;
  }
  return CountTerms(sum) * of_a_product * kSmallestNormal;
}

}  // namespace tunec
