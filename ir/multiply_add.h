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
  /// The product that an instance adds to the reducer's sum, possibly after a conversion. Null for
  /// a multiply-add inside a value.
  const Expr* product = nullptr;
};

/// Calls `visit` for each multiply-add inside a statement's values, and for each product that the
/// statement's reducer adds to a sum.
void VisitMultiplyAdds(const std::vector<Expr>& values, const std::optional<Reducer>& reducer,
                       const std::function<void(const MultiplyAdd&)>& visit);

}  // namespace tunec
