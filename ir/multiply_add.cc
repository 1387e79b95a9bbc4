#include "ir/multiply_add.h"

#include <algorithm>

namespace tunec {
namespace {

bool AddsProduct(const Expr& node) {
  return node.Is(ScalarOp::kAdd) && std::ranges::any_of(node.operands(), [](const Expr& operand) {
           return operand.Is(ScalarOp::kMul);
         });
}

}  // namespace

void VisitMultiplyAdds(const std::vector<Expr>& values, const std::optional<Reducer>& reducer,
                       const std::function<void(const MultiplyAdd&)>& visit) {
  for (size_t k = 0; k < values.size(); ++k) {
    Visit(values[k], [&](const Expr& node) {
      if (node.Is(ScalarOp::kFma) || AddsProduct(node)) visit({.type = node.type()});
    });
    const bool sums =
        reducer && k < reducer->combine.size() && reducer->combine[k].Is(ScalarOp::kAdd);
    const Expr& value = values[k];
    const Expr& inner = value.kind() == ExprKind::kCast ? value.operands()[0] : value;
    if (sums && inner.Is(ScalarOp::kMul)) {
      visit({.type = reducer->combine[k].type(), .product = &inner});
    }
  }
}

}  // namespace tunec
