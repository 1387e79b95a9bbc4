#include "tests/ir/random_ir.h"

#include <array>
#include <cmath>

#include "ir/expr/evaluate_expr.h"
#include "ir/rounding.h"

namespace tunec::test {

IndexExpr RandomIndex(Random& random, int variables, int depth) {
  if (depth == 0) {
    if (random.Below(3) == 0) return IndexExpr(static_cast<int64_t>(random.Below(41)) - 20);
    return IndexExpr::Var(VarId(random.Below(variables)));
  }
  const IndexExpr a = RandomIndex(random, variables, depth - 1);
  const auto divisor = static_cast<int64_t>(1 + random.Below(9));
  switch (random.Below(5)) {
    case 0:
      return a + RandomIndex(random, variables, depth - 1);
    case 1:
      return a - RandomIndex(random, variables, depth - 1);
    case 2:
      return a * (static_cast<int64_t>(random.Below(17)) - 8);
    case 3:
      return IndexExpr::FloorDiv(a, divisor);
    default:
      return IndexExpr::Mod(a, divisor);
  }
}

double RandomFloat(Random& random, DataType type) {
  constexpr std::array<double, 12> kSpecial = {0.0, -0.0, 1.0,  -1.0, INFINITY, -INFINITY,
                                               NAN, 2.0,  -0.5, 0.5,  1e-40,    3e38};
  if (random.Below(2) == 0) return RoundTo(kSpecial[random.Below(kSpecial.size())], type);
  return RoundTo((random.Unit() - 0.5) * 8, type);
}

namespace {

Expr RandomLeaf(Random& random, DataType type) {
  if (random.Below(2) == 0) return Expr::Read(static_cast<int>(random.Below(3)), type);
  if (IsFloat(type)) return Expr::Constant(RandomFloat(random, type), type);
  return Expr::Constant(static_cast<int64_t>(random.Below(7)) - 3, type);
}

Expr RandomCondition(Random& random, DataType type, int depth) {
  constexpr std::array<ScalarOp, 4> kComparisons = {ScalarOp::kEq, ScalarOp::kNe, ScalarOp::kLt,
                                                    ScalarOp::kLe};
  Expr condition = Expr::Apply(kComparisons[random.Below(4)],
                               {RandomExpr(random, type, depth), RandomExpr(random, type, depth)});
  return random.Below(3) == 0 ? Unary(ScalarOp::kNot, condition) : condition;
}

}  // namespace

Expr RandomExpr(Random& random, DataType type, int depth) {
  if (depth == 0) return RandomLeaf(random, type);
  if (random.Below(8) == 0) {
    return Expr::Select(RandomCondition(random, type, depth - 1),
                        RandomExpr(random, type, depth - 1), RandomExpr(random, type, depth - 1));
  }
  while (true) {
    const auto op = static_cast<ScalarOp>(random.Below(static_cast<int>(ScalarOp::kFma) + 1));
    const bool fits =
        IsDefined(op, type) && ResultOf(op) == ResultType::kSame && op != ScalarOp::kSelect;
    if (!fits) continue;
    std::vector<Expr> operands;
    for (int i = 0; i < Arity(op); ++i) operands.push_back(RandomExpr(random, type, depth - 1));
    // Some rules need equal operands, which are rarely drawn by chance.
    if (operands.size() == 2 && random.Below(4) == 0) operands[1] = operands[0];
    return Expr::Apply(op, std::move(operands));
  }
}

}  // namespace tunec::test
