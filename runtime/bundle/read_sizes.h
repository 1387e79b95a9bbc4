// The plans of a bundle's variant for several sizes, checked.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/bundle/bundle_file.h"
#include "runtime/bundle/read_plan.h"
#include "runtime/bundle/sized_bundle.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec::bundle {

struct SizedPlans {
  SizedForm form;
  std::vector<SizedPlan> plans;
};

/// Of a variant that has kSizes. Constants are those in the bundle's bytes; what plans pack when
/// they are made executables they share. kParse where CheckSizes or Verify refuses something.
Result<SizedPlans> ReadSizedPlans(const BundleFile& file, uint32_t variant,
                                  const KernelsOf& kernels_of);

}  // namespace tunec::bundle
