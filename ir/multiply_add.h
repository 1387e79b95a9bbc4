// The multiply-adds of one instance of a statement.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/compute.h"
#include "ir/expr/expr.h"

namespace tunec {

struct MultiplyAdd {
  DataType type = DataType::kF32;  // type of the addition
  /// The product of a sum of products, without a conversion around it. Null: a multiply-add within
  /// an expression.
  const Expr* product = nullptr;
};

/// Calls `visit` for each multiply-add of a statement with these values and reducer.
void VisitMultiplyAdds(const std::vector<Expr>& values, const std::optional<Reducer>& reducer,
                       const std::function<void(const MultiplyAdd&)>& visit);

}  // namespace tunec
