// The predefined reducers. Each is associative and commutative up to rounding. The arg reducers
// resolve ties by the index.
#include <limits>

#include "ir/compute.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Reducer Binary(std::string name, Expr identity, ScalarOp op) {
  const DataType type = identity.type();
  Reducer reducer;
  reducer.name = std::move(name);
  reducer.combine = {Expr::Apply(op, {Expr::Accumulator(0, type), Expr::Incoming(0, type)})};
  reducer.identity = {std::move(identity)};
  return reducer;
}

Expr Lowest(DataType type) {
  return IsFloat(type) ? Expr::Constant(-kInfinity, type) : Expr::Constant(SmallestInt(type), type);
}

Expr Highest(DataType type) {
  return IsFloat(type) ? Expr::Constant(kInfinity, type) : Expr::Constant(LargestInt(type), type);
}

Expr Both(Expr a, Expr b) { return Expr::Apply(ScalarOp::kAnd, {std::move(a), std::move(b)}); }
Expr Either(Expr a, Expr b) { return Expr::Apply(ScalarOp::kOr, {std::move(a), std::move(b)}); }

// Returns the condition that `incoming` replaces `old`: `incoming` is better, or equal with a
// preferred index. NaN is better than every number, and equal to NaN, as in NumPy and PyTorch.
Expr Replaces(const Expr& old, const Expr& incoming, const Expr& preferred, bool greatest) {
  const Expr better = greatest ? Expr::Apply(ScalarOp::kLt, {old, incoming})
                               : Expr::Apply(ScalarOp::kLt, {incoming, old});
  const Expr same = Expr::Apply(ScalarOp::kEq, {old, incoming});
  Expr ordinary = Either(better, Both(same, preferred));
  if (!IsFloat(old.type())) return ordinary;
  const Expr old_is_number = Unary(ScalarOp::kNot, Unary(ScalarOp::kIsNan, old));
  const Expr nan = Both(Unary(ScalarOp::kIsNan, incoming), Either(old_is_number, preferred));
  return Either(ordinary, nan);
}

Reducer Arg(DataType type, bool greatest, bool last) {
  constexpr DataType kIndexType = DataType::kI64;
  const Expr old = Expr::Accumulator(0, type);
  const Expr old_index = Expr::Accumulator(1, kIndexType);
  const Expr incoming = Expr::Incoming(0, type);
  const Expr index = Expr::Incoming(1, kIndexType);
  const Expr preferred = last ? Expr::Apply(ScalarOp::kLt, {old_index, index})
                              : Expr::Apply(ScalarOp::kLt, {index, old_index});
  const Expr replaces = Replaces(old, incoming, preferred, greatest);
  Reducer reducer;
  reducer.name = greatest ? (last ? "argmax_last" : "argmax") : (last ? "argmin_last" : "argmin");
  // The identity's index loses against every real index. So a row whose elements all equal the
  // identity has a real index.
  reducer.identity = {greatest ? Lowest(type) : Highest(type),
                      Expr::Constant(last ? int64_t{-1} : LargestInt(kIndexType), kIndexType)};
  reducer.combine = {Expr::Select(replaces, incoming, old),
                     Expr::Select(replaces, index, old_index)};
  return reducer;
}

Expr Number(int value, DataType type) {
  return IsFloat(type) ? Expr::Constant(static_cast<double>(value), type)
                       : Expr::Constant(value, type);
}

}  // namespace

Reducer Reducer::Sum(DataType type) { return Binary("sum", Number(0, type), ScalarOp::kAdd); }
Reducer Reducer::Product(DataType type) {
  return Binary("product", Number(1, type), ScalarOp::kMul);
}
Reducer Reducer::Max(DataType type) { return Binary("max", Lowest(type), ScalarOp::kMax); }
Reducer Reducer::Min(DataType type) { return Binary("min", Highest(type), ScalarOp::kMin); }
Reducer Reducer::ArgMax(DataType type, bool last) { return Arg(type, true, last); }
Reducer Reducer::ArgMin(DataType type, bool last) { return Arg(type, false, last); }

}  // namespace tunec
