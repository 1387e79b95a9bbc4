// A bundle's dynamic-shape model, ready to run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executable_plan.h"
#include "runtime/sized/sized_executable.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// The description of the code for one set of sizes, and the plan that runs the code.
struct SizedPlan {
  SizedCode code;
  ExecutablePlan plan;
};

/// A dynamic-shape model from a bundle. A plan becomes an executable when a call first needs the
/// plan. Executables are never evicted.
class SizedBundle : public SizedExecutable {
 public:
  /// Makes the model. Requires: form and plans are from ReadSizedPlans.
  SizedBundle(SizedForm form, std::vector<SizedPlan> plans, std::shared_ptr<ThreadPool> pool,
              std::string report);

  /// Returns nullopt, because bundles have no dynamic-shape code for devices.
  std::optional<int> DeviceNumber() const override { return std::nullopt; }
  std::string Report() const override { return report_; }
  int Threads() const { return pool_->threads(); }
  size_t Plans() const { return plans_.size(); }

 protected:
  Result<VariantPtr> VariantFor(const Sizes& sizes) const override;

 private:
  Result<VariantPtr> MakeVariant(const SizedCode& code, const ExecutablePlan& plan) const;
  Error Rejection(const Sizes& sizes) const;

  std::map<SizedKey, SizedPlan> plans_;
  std::shared_ptr<ThreadPool> pool_;
  std::string report_;
};

}  // namespace tunec
