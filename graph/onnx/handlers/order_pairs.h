// Pairs to be sorted: values, greatest first, and their original positions. Only graph/onnx uses
// this file.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// A flag in a position, which is an i32. It marks the later of two different elements whose
/// compared values are equal.
inline constexpr int64_t kLater = int64_t{1} << 30;
/// Largest number of elements of all rows together. It is less than kLater, because positions in
/// the last piece of a row may be slightly beyond the row.
inline constexpr int64_t kMostElements = kLater - (int64_t{1} << 15);
/// A position after all others.
inline constexpr int64_t kLastPosition = std::numeric_limits<int32_t>::max();

/// The order of NaN in a row whose greatest values come first.
enum class NanOrder { kNone, kFirst, kLast };

/// Values whose greatest come first, in a type that compares fast, and the order of NaN.
struct Comparable {
  Formula values;
  NanOrder nan = NanOrder::kNone;
};

/// Returns the values to be compared. NaN is greater than infinity, so it is last if the least
/// values come first.
Comparable ComparableOf(const Formula& x, bool largest);

/// Returns the number that comes last in an order without NaN.
double LastNumber(DataType type);
/// Returns the value that comes last.
double LastValue(const Comparable& x);

Formula Not(const Formula& x);
Formula IsNan(const Formula& x);
/// Returns the values with NaN replaced by an infinity.
Formula Numbers(const Comparable& x);

/// Values without NaN and their positions, with the same shape. The positions of a row differ,
/// except in padding.
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

/// Returns which elements of `a` come before those of `b`.
Formula Precedes(const Pairs& a, const Pairs& b);
Pairs Select(const Formula& condition, const Pairs& a, const Pairs& b);

template <class Move>
Pairs Each(const Pairs& pairs, const Move& move) {
  return {move(pairs.values), move(pairs.positions)};
}

Pairs Reshaped(const Pairs& pairs, const std::vector<int64_t>& shape);
/// Returns the elements with some axes reversed.
Pairs Reversed(const Pairs& pairs, const std::vector<size_t>& axes);
/// Returns `x` with an axis padded at its end.
Formula Padded(const Formula& x, size_t axis, int64_t by, double value);
/// Returns the pairs with the last of two axes padded by elements that come after all others.
Pairs Padded(const Pairs& pairs, int64_t by);

}  // namespace tunec::onnx_import
