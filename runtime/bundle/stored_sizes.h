// A model of open sizes as bytes: what is known of it, and a plan for each set of sizes.
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

/// More than anyone waits for, and few enough to look at all.
inline constexpr size_t kMostSizedPlans = 256;

struct StoredSizedPlan {
  SizedCode code;
  StoredPlan plan;
  bool operator==(const StoredSizedPlan&) const = default;
};

struct StoredSizes {
  SizedForm form;
  std::vector<StoredSizedPlan> plans;
  bool operator==(const StoredSizes&) const = default;
};

std::string Serialize(const StoredSizes& sizes);
/// The inverse. kParse when it is damaged. Says nothing of what the numbers mean: CheckSizes does.
Result<StoredSizes> ParseSizes(std::span<const std::byte> bytes);

/// What a run relies on. Ensures, beside CheckPlan of each plan:
///  1. there are dimensions, each the size of some axis of an input; an axis is of one dimension
///     exactly where its size is open;
///  2. formulas are of these dimensions, and there are as many as outputs and axes;
///  3. each dimension lists sizes from 1 to 2^40, ascending;
///  4. each plan has the inputs and outputs that the form says for its sizes (CheckCode), for sizes
///     of its own.
/// What formulas give is looked at in each run (SizedVariant::Run). kParse says what is wrong.
Status CheckSizes(const StoredSizes& sizes, const std::vector<KernelContract>& kernels,
                  std::span<const std::byte> weights);

}  // namespace tunec::bundle
