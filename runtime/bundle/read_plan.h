// Checked conversion of a variant's plan to an ExecutablePlan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/bundle/bundle_file.h"
#include "runtime/bundle/code_table.h"
#include "runtime/bundle/stored_plan.h"
#include "runtime/device.h"
#include "runtime/executable_plan.h"
#include "runtime/kernel.h"
#include "support/error.h"

namespace tunec::bundle {

/// A function that returns the kernels of a code table as functions of the host. `section` is the
/// code section, and `parts` are its parsed parts.
using KernelsOf = std::function<Result<std::vector<Kernel>>(
    const std::vector<KernelContract>& kernels, std::span<const std::byte> section,
    const CodeParts& parts)>;

/// Reads the plan of one variant. Constants with data are in the bundle's bytes. `device` runs the
/// steps and loads their code; null: the host. Fails with kParse if a section or the plan is
/// damaged, or if the plan does not match `device`: a plan for a device needs one, a plan for the
/// host none. Other errors: those of CheckPlan, of `kernels_of` and of the device.
Result<ExecutablePlan> ReadPlan(const BundleFile& file, uint32_t variant,
                                const KernelsOf& kernels_of,
                                std::shared_ptr<Device> device = nullptr);

/// Checks a plan from a bundle by Verify (runtime/executable_plan.h). Fails with kParse instead of
/// Verify's error code, because the bundle is damaged.
Status VerifyRead(const ExecutablePlan& plan);

/// Converts a checked plan of the host. `kernels` has the loaded kernel of each contract, in the
/// same order. `owner` keeps the weights in memory.
ExecutablePlan HostPlan(const StoredPlan& plan, const std::vector<KernelContract>& contracts,
                        const std::vector<Kernel>& kernels, std::span<const std::byte> weights,
                        std::shared_ptr<const void> owner);

}  // namespace tunec::bundle
