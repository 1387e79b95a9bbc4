// Choice of the sizes at which a graph is sampled, to infer how the graph depends on its sizes.
#pragma once

#include <vector>

#include "compiler/sized/size_formula.h"
#include "runtime/sized/sized_form.h"
#include "support/size_expression.h"

namespace tunec {

/// The sizes that code serves: along each dynamic dimension from `least` up to the key's size.
/// Along the other dimensions, `least` is the key's size.
struct ServedSizes {
  SizedKey key;
  Sizes least;
};

/// Returns, without duplicates, the least sizes, the key's sizes less 1 (but at least 1), and the
/// middle of both. Also returns, for each dynamic dimension, the least sizes with this dimension as
/// in the second set.
std::vector<Sizes> SamplesOf(const ServedSizes& served);

/// Returns four sets of sizes: all 1, all 2, a quarter of `sizes` (at least 1), and the largest
/// listed sizes. In the last set, a dimension without listed sizes has four times its size.
std::vector<Sizes> SizesFarFrom(const Sizes& sizes, const std::vector<ListedSizes>& listed);

/// Returns further samples, with remainders of the formulas' divisions that do not occur in
/// `samples`. A rounded number, for example with a stride, has one formula for all sizes with the
/// same remainder. The result is empty if every remainder occurs. There are at most 40 samples
/// together with `samples`. Only the remainders of about the first 2048 served sizes of a dimension
/// are considered, with the least sizes of the other dimensions.
std::vector<Sizes> SamplesOfRemainders(const ServedSizes& served, const std::vector<Sizes>& samples,
                                       const std::vector<SizeExpression>& formulas);

}  // namespace tunec
