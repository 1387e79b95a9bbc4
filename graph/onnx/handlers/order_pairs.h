// What is put in order: values whose greatest come first, and the places where they stood. Internal
// to graph/onnx.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// Places are i32. This bit marks the later one of two elements whose compared values are equal,
/// although the elements are not.
inline constexpr int64_t kLater = int64_t{1} << 30;
/// All rows together have at most so many elements. Pieces may reach a little beyond a row.
inline constexpr int64_t kMostElements = kLater - (int64_t{1} << 15);
/// This place is behind all others.
inline constexpr int64_t kLastPlace = std::numeric_limits<int32_t>::max();

/// Says where NaN stands in a row whose greatest values come first.
enum class NanOrder { kNone, kFirst, kLast };

/// Values whose greatest come first, of a type that is quick to compare, and where their NaN stand.
struct Comparable {
  Formula values;
  NanOrder nan = NanOrder::kNone;
};

/// Returns the values of an order. NaN is greater than infinity, so it is the last where the least
/// come first.
Comparable ComparableOf(const Formula& x, bool largest);

/// Returns a value that none comes after, of values without NaN.
double LastNumber(DataType type);
/// Returns a value that none comes after.
double LastValue(const Comparable& x);

Formula Not(const Formula& x);
Formula IsNan(const Formula& x);
/// Returns the values with the infinity beside NaN in NaN's place.
Formula Numbers(const Comparable& x);

/// Of the same shape, without NaN. Places of a row differ, but for those of paddings.
struct Pairs {
  Formula values;
  Formula places;  // i32, with kLater
};

/// Returns numbers, and places with kLater where an element comes after equal numbers: infinity
/// after a NaN that is the first of all, a NaN that is the last after infinity.
Pairs PairsOf(const Comparable& x, const Formula& places);
/// Returns places without kLater.
Formula PlacesOf(const Formula& places);

/// Says which elements of `a` come before those of `b`.
Formula Precedes(const Pairs& a, const Pairs& b);
Pairs Select(const Formula& condition, const Pairs& a, const Pairs& b);

template <class Move>
Pairs Each(const Pairs& pairs, const Move& move) {
  return {move(pairs.values), move(pairs.places)};
}

Pairs Reshaped(const Pairs& pairs, const std::vector<int64_t>& shape);
/// Returns the elements of some axes in reverse.
Pairs Reversed(const Pairs& pairs, const std::vector<size_t>& axes);
/// Returns `x` with an axis grown at its end.
Formula Padded(const Formula& x, size_t axis, int64_t by, double value);
/// Returns the pairs with the last of two axes grown by elements that come after all others.
Pairs Padded(const Pairs& pairs, int64_t by);

}  // namespace tunec::onnx_import
