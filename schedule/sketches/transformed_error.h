// The rounding error of products between transforms, from the transforms themselves.
#pragma once

#include <optional>

#include "schedule/rounding_freedom.h"
#include "schedule/sketches/transformed_plan.h"

namespace tunec {

/// The error relative to the sum of the magnitudes of the original products, for operands with
/// elements of equal magnitude. It is of first order in the roundings.
struct TransformedError {
  /// Growth factor of the magnitudes that are summed between the transforms.
  double growth = 0;
  /// Largest error of a result, for any signs.
  double bound = 0;
};

/// Returns the error of the plan's transforms. `products` is the number of original products for
/// one value of the reduced iterator: the elements of a filter. Returns nothing if a transform is
/// anything other than a sum of its operands' elements with constant factors.
std::optional<TransformedError> ErrorOf(const TransformedPlan& plan, double products);

/// Checks that the contract permits the transforms. Any contract that permits regrouping permits
/// them if the magnitudes grow less than the sums become shorter: a sum in the written order then
/// has no better bound. Otherwise the error bound is compared with the contract's bound.
bool MayTransform(const TransformedPlan& plan, double products, const RoundingFreedom& rounding);

}  // namespace tunec
