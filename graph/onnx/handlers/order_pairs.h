// Pairs of a value and its original position. The order is by value, greatest first, then by
// position. Only graph/onnx uses this file.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// A flag in an i32 position. Comparisons replace NaN by an infinity. The flag marks the later of
/// the two: NaN, or the elements that are this infinity.
inline constexpr int64_t kLater = int64_t{1} << 30;
/// Largest number of elements of all rows together, or of a row if the number of rows is named. It
/// is less than kLater, because positions in the last piece of a row may be slightly beyond the
/// row.
inline constexpr int64_t kMostElements = kLater - (int64_t{1} << 15);
/// A position after all others.
inline constexpr int64_t kLastPosition = std::numeric_limits<int32_t>::max();

/// The position of NaN in a row whose greatest values come first. kNone: the type has no NaN.
enum class NanOrder { kNone, kFirst, kLast };

/// Values to be sorted, greatest first, in a type of at least 32 bits, and the order of NaN.
struct Comparable {
  Formula values;
  NanOrder nan = NanOrder::kNone;
};

/// Returns the values to be compared. Unless `largest`, floats are negated and the bits of integers
/// are inverted, so that the least come first. NaN is first if `largest`, else last.
Comparable ComparableOf(const Formula& x, bool largest);

/// Returns the number that comes last in an order without NaN.
double LastNumber(DataType type);
/// Returns the value that comes last: NaN if NaN is last, else LastNumber.
double LastValue(const Comparable& x);

Formula Not(const Formula& x);
Formula IsNan(const Formula& x);
/// Returns the values with NaN replaced by the infinity that is next to NaN in the order.
Formula Numbers(const Comparable& x);

/// Values without NaN and their positions. The positions have the values' shape or broadcast to it.
/// The positions of a row differ, except in padding.
struct Pairs {
  Formula values;
  Formula positions;  // i32, with kLater
};

/// Returns pairs of numbers and positions. NaN becomes an infinity, and kLater distinguishes it
/// from the real infinities. If NaN is first, elements of +infinity have kLater and so come after
/// NaN. If NaN is last, NaN has kLater and so comes after -infinity.
Pairs PairsOf(const Comparable& x, const Formula& positions);
/// Returns positions without kLater.
Formula ClearLater(const Formula& positions);

/// Compares elementwise. Returns true where the pair of `a` comes before the pair of `b`.
Formula Precedes(const Pairs& a, const Pairs& b);
Pairs Select(const Formula& condition, const Pairs& a, const Pairs& b);

template <class Move>
Pairs Each(const Pairs& pairs, const Move& move) {
  return {move(pairs.values), move(pairs.positions)};
}

Pairs Reshaped(const Pairs& pairs, const OperandShape& shape);
/// Returns the pairs with these axes reversed.
Pairs Reversed(const Pairs& pairs, const std::vector<size_t>& axes);
/// Returns `x` with `by` elements equal to `value` appended along an axis.
Formula Padded(const Formula& x, size_t axis, int64_t by, double value);
/// Returns pairs [rows, length] with `by` elements appended to each row that come after all others.
Pairs Padded(const Pairs& pairs, int64_t by);

}  // namespace tunec::onnx_import
