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
  /// The product that each instance adds to the reducer's sum, without a conversion around it. Null
  /// for a multiply-add inside a value.
  const Expr* product = nullptr;
};

/// Calls `visit` for each multiply-add in one instance of a statement with these values and this
/// reducer.
void VisitMultiplyAdds(const std::vector<Expr>& values, const std::optional<Reducer>& reducer,
                       const std::function<void(const MultiplyAdd&)>& visit);

}  // namespace tunec
