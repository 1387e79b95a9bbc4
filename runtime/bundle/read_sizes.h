// Checked reading of a variant's plans for several sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/bundle/bundle_file.h"
#include "runtime/bundle/read_plan.h"
#include "runtime/bundle/sized_bundle.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec::bundle {

/// The form of a dynamic-shape model, and a plan for each set of sizes.
struct SizedPlans {
  SizedForm form;
  std::vector<SizedPlan> plans;
};

/// Reads the plans of a variant that has a section kSizes. The data of constants is in the bundle's
/// bytes. Executables made from the plans share packed weights. Errors: those of CheckSizes and of
/// `kernels_of`; kParse for a damaged section, a plan that Verify rejects, and a variant for a
/// device.
Result<SizedPlans> ReadSizedPlans(const BundleFile& file, uint32_t variant,
                                  const KernelsOf& kernels_of);

}  // namespace tunec::bundle
