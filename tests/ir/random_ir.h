// Functions that return random index expressions, scalar expressions and floats for property tests.
#pragma once

#include "ir/expr/expr.h"
#include "ir/expr/index_expr.h"
#include "support/random.h"

namespace tunec::test {

/// Returns an index expression of the variables 0 .. variables-1, at most `depth` operators deep.
IndexExpr RandomIndex(Random& random, int variables, int depth);

/// Returns a scalar expression of the type, about `depth` operators deep, over reads 0 .. 2.
Expr RandomExpr(Random& random, DataType type, int depth);

/// Returns a float of the type. Half of the floats are special: zeros, infinities, NaN, 1e-40, 3e38
/// and small numbers such as 1 and -0.5.
double RandomFloat(Random& random, DataType type);

}  // namespace tunec::test
