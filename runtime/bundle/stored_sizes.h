// A dynamic-shape model as bytes: its form, and a plan for each set of sizes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/bundle/stored_plan.h"
#include "runtime/sized/sized_form.h"
#include "runtime/sized/sized_variant.h"
#include "support/error.h"

namespace tunec::bundle {

/// The maximum number of plans of a model. Building more plans would take too long. Checking this
/// many plans is fast.
inline constexpr size_t kMostSizedPlans = 256;

/// A stored plan, with the description of its code.
struct StoredSizedPlan {
  SizedCode code;
  StoredPlan plan;
  bool operator==(const StoredSizedPlan&) const = default;
};

/// A dynamic-shape model as it is stored.
struct StoredSizes {
  SizedForm form;
  std::vector<StoredSizedPlan> plans;
  bool operator==(const StoredSizes&) const = default;
};

std::string Serialize(const StoredSizes& sizes);
/// Parses a model. Fails with kParse if it is damaged. CheckSizes checks the meaning of the
/// numbers.
Result<StoredSizes> ParseSizes(std::span<const std::byte> bytes);

/// Checks properties on which a run relies. Ensures, besides CheckPlan of each plan:
///   1. There are 1 to 64 dimensions, and each is the size of some axis of an input. An axis of an
///      input has a dimension exactly if its size is dynamic.
///   2. Output extents, if the form has them, have a list of programs for each axis of each output.
///      All programs are over the dimensions.
///   3. Each dimension lists at least one size. The sizes are from 1 to 2^40, strictly ascending,
///      and so is the step.
///   4. There are 1 to kMostSizedPlans plans. Each plan matches the form (CheckCode). No two plans
///      have the same key.
/// SizedVariant::Run checks the extents for a run's sizes. Errors: kParse with the reason, and
/// those of CheckPlan.
Status CheckSizes(const StoredSizes& sizes, const std::vector<KernelContract>& kernels,
                  std::span<const std::byte> weights);

}  // namespace tunec::bundle
