// The rounding error of a Winograd convolution, computed from the factors in its transforms.
#pragma once

#include <optional>

#include "schedule/rounding_freedom.h"
#include "schedule/sketches/transformed_plan.h"

namespace tunec {

/// The rounding error of a Winograd convolution, relative to the sum of the magnitudes of the
/// original products. All elements of an operand are assumed to have equal magnitude. Products of
/// roundings are neglected.
struct TransformedError {
  /// Bound of the sum of the magnitudes that are added for a result, relative to the same sum for
  /// the original products.
  double growth = 0;
  /// Bound of the error of each result, for any signs of the elements.
  double bound = 0;
};

/// Returns the error of the plan's results. `products` is the number of original products for
/// one value of the reduced iterator, which is the number of elements of a filter. Returns nothing
/// if a transform is anything other than a sum of its operands' elements with constant factors.
std::optional<TransformedError> ErrorOf(const TransformedPlan& plan, double products);

/// Checks that the contract permits the transforms; returns false if ErrorOf returns nothing. The
/// contract permits them if the magnitudes grow by at most the factor `products` by which the sums
/// become shorter: a sum in the written order then has no better error bound. Otherwise the error
/// bound must be within the contract's bound.
bool MayTransform(const TransformedPlan& plan, double products, const RoundingFreedom& rounding);

}  // namespace tunec
