#include "autotune/measure/kernel_arithmetic.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "ir/multiply_add.h"
#include "schedule/apply.h"

namespace tunec {
namespace {

using Tiles = std::vector<const TileIntrinsic*>;

Tiles TilesOf(const Schedule& schedule) {
  Tiles tiles;
  for (const LoopStep& step : schedule.loop_steps) {
    const auto* tensorize = std::get_if<TensorizeStep>(&step);
    if (tensorize == nullptr) continue;
    const TileIntrinsic* intrinsic = FindTileIntrinsic(tensorize->intrinsic);
    if (intrinsic != nullptr) tiles.push_back(intrinsic);
  }
  return tiles;
}

// Returns the element type of an operand of a product, before any conversion.
DataType ElementType(const Expr& operand) {
  return operand.kind() == ExprKind::kCast ? operand.operands()[0].type() : operand.type();
}

// Returns true if the product has the intrinsic's types, with its operands in either order.
bool HasTypesOf(const TileIntrinsic& intrinsic, const MultiplyAdd& of) {
  if (of.product == nullptr || of.type != intrinsic.accumulator.type) return false;
  const std::pair types(ElementType(of.product->operands()[0]),
                        ElementType(of.product->operands()[1]));
  return types == std::pair(intrinsic.left.type, intrinsic.right.type) ||
         types == std::pair(intrinsic.right.type, intrinsic.left.type);
}

const MacInstruction* FindInstruction(const MultiplyAdd& of, const Tiles& tiles) {
  const auto tile = std::ranges::find_if(
      tiles, [&](const TileIntrinsic* intrinsic) { return HasTypesOf(*intrinsic, of); });
  return tile == tiles.end() ? PlainMac(of.type) : MacOf(**tile);
}

/// Numbers of operations per instruction, in the order of the statements. A null instruction stands
/// for multiply-adds of integers without a tile intrinsic, for which no ceiling is measured.
class MultiplyAddCounts {
 public:
  void Add(const MacInstruction* by, double amount) {
    const auto known = std::ranges::find(amounts_, by, &Share::by);
    if (known == amounts_.end()) {
      amounts_.push_back({by, amount});
    } else {
      known->amount += amount;
    }
  }
  double Of(const MacInstruction* by) const {
    const auto known = std::ranges::find(amounts_, by, &Share::by);
    return known == amounts_.end() ? 0 : known->amount;
  }
  /// Returns the instruction with the greatest amount; among equal amounts the first. Returns null
  /// if no counted instruction has a ceiling.
  const MacInstruction* Most() const {
    Share most;
    for (const Share& share : amounts_) {
      if (share.by != nullptr && share.amount > most.amount) most = share;
    }
    return most.by;
  }
  /// Returns the number of multiply-adds by instructions that have a ceiling.
  double Total() const {
    double total = 0;
    for (const Share& share : amounts_) total += share.by == nullptr ? 0 : share.amount;
    return total;
  }

 private:
  struct Share {
    const MacInstruction* by = nullptr;
    double amount = 0;
  };
  std::vector<Share> amounts_;
};

MultiplyAddCounts MultiplyAddsOf(const Compute& compute, const Tiles& tiles) {
  MultiplyAddCounts shares;
  for (const Statement& statement : compute.statements) {
    const double instances = CountInstances(statement);
    VisitMultiplyAdds(statement.values, statement.reducer, [&](const MultiplyAdd& one) {
      // Multiply-adds of integers inside a value mostly compute indices and are not counted.
      if (one.product == nullptr && !IsFloat(one.type)) return;
      shares.Add(FindInstruction(one, tiles), instances);
    });
  }
  return shares;
}

MultiplyAddCounts FloatOperationsOf(const Compute& compute) {
  MultiplyAddCounts shares;
  for (const Statement& statement : compute.statements) {
    const double instances = CountInstances(statement);
    const auto see = [&](const Expr& node) {
      if (node.kind() == ExprKind::kApply && IsFloat(node.type())) {
        shares.Add(PlainMac(node.type()), instances);
      }
    };
    for (const Expr& value : statement.values) Visit(value, see);
    if (!statement.reducer) continue;
    for (const Expr& combine : statement.reducer->combine) Visit(combine, see);
  }
  return shares;
}

bool SplitsOperands(const Schedule& schedule) {
  return std::ranges::any_of(schedule.compute_steps, [](const ComputeStep& step) {
    return std::holds_alternative<PrecisionStep>(step);
  });
}

// Returns a freedom under which the steps of schedules of all accuracy modes apply.
RoundingFreedom AllowAnyRounding() {
  RoundingFreedom any = ReductionOrder::kAny;
  any.min_bf16_parts = 1;
  any.tf32_operands = true;
  return any;
}

}  // namespace

std::optional<KernelArithmetic> ArithmeticOf(const Compute& lowering, const Schedule& schedule,
                                             const Target& target) {
  if (target.device) return std::nullopt;
  const Result<Compute> rewritten = ApplyComputeSteps(lowering, schedule, AllowAnyRounding());
  // If the schedule does not apply, it is never run, so the arithmetic of the lowering suffices.
  const Compute& compute = rewritten ? *rewritten : lowering;
  const MultiplyAddCounts shares = MultiplyAddsOf(compute, TilesOf(schedule));
  const MacInstruction* most = shares.Most();
  const double integers = shares.Of(nullptr);
  if (integers > (most == nullptr ? 0 : shares.Of(most))) return std::nullopt;
  if (most == nullptr) {
    most = FloatOperationsOf(compute).Most();
    return most == nullptr ? std::nullopt : std::optional(KernelArithmetic{most});
  }
  // Only splitting of operands replaces one product by several products that do the same work.
  // Other steps change only how products are counted.
  const double useful =
      SplitsOperands(schedule) ? MultiplyAddsOf(lowering, {}).Total() : shares.Total();
  return KernelArithmetic{most, shares.Of(most) / useful};
}

}  // namespace tunec
