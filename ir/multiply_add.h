// The multiply-adds that one instance of a statement does.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/compute.h"
#include "ir/expr/expr.h"

namespace tunec {

struct MultiplyAdd {
  DataType type = DataType::kF32;  // that it adds in
  /// Of a sum of products: the product, without a conversion around it. Null: a multiply-add within
  /// an expression.
  const Expr* product = nullptr;
};

/// Calls `visit` for each multiply-add of a statement with these values and reducer.
void VisitMultiplyAdds(const std::vector<Expr>& values, const std::optional<Reducer>& reducer,
                       const std::function<void(const MultiplyAdd&)>& visit);

}  // namespace tunec
