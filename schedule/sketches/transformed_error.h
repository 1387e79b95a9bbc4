// What products between transforms lose to rounding, from the transforms themselves.
#pragma once

#include <optional>

#include "schedule/rounding_freedom.h"
#include "schedule/sketches/transformed_plan.h"

namespace tunec {

/// Relative to the sum of the magnitudes of the products as they are defined, of operands whose
/// elements are equal in magnitude. To first order in the roundings.
struct TransformedError {
  /// How many times larger the magnitudes are that are added up between the transforms.
  double growth = 0;
  /// How far a result is off at most, whatever the signs.
  double bound = 0;
};

/// `products`: of the definition, for one of what the plan reduces: the elements of a filter. None
/// where a transform is more than sums of its operands' elements by constant factors.
std::optional<TransformedError> ErrorOf(const TransformedPlan& plan, double products);

/// Whether the contract takes it. Any that lets sums be regrouped takes magnitudes that grow by
/// less than the sums become shorter: then a sum as written is bounded no better. Else the bound is
/// held against the contract's own.
bool MayTransform(const TransformedPlan& plan, double products, const RoundingFreedom& rounding);

}  // namespace tunec
