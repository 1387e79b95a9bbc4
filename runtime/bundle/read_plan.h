// The plan of a bundle's variant as an ExecutablePlan, checked.
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

/// What the kernels of a table are as functions of the host.
using KernelsOf = std::function<Result<std::vector<Kernel>>(
    const std::vector<KernelContract>& kernels, std::span<const std::byte> section,
    const CodeParts& parts)>;

/// The plan of one variant. Its constants are those in the bundle's bytes. `device` runs its steps,
/// and has their code loaded; null: the host. kParse where the plan does not stay within its
/// buffers or is for the other of the two; errors of the device's.
Result<ExecutablePlan> ReadPlan(const BundleFile& file, uint32_t variant,
                                const KernelsOf& kernels_of,
                                std::shared_ptr<Device> device = nullptr);

/// Verify (runtime/executable_plan.h) of a plan that was read. kParse.
Status VerifyRead(const ExecutablePlan& plan);

/// A checked plan of the host's. `kernels` are those of the contracts; `owner` keeps the weights.
ExecutablePlan HostPlan(const StoredPlan& plan, const std::vector<KernelContract>& contracts,
                        const std::vector<Kernel>& kernels, std::span<const std::byte> weights,
                        std::shared_ptr<const void> owner);

}  // namespace tunec::bundle
