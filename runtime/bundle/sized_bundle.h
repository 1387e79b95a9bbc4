// A bundle's model of open sizes, ready to run.
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

/// A plan for some sizes.
struct SizedPlan {
  SizedCode code;
  ExecutablePlan plan;
};

/// Plans are made executables when a run first wants them; they stay, for what they hold of their
/// own is the memory of runs.
class SizedBundle : public SizedExecutable {
 public:
  /// Requires: form and plans are those of ReadSizedPlans.
  SizedBundle(SizedForm form, std::vector<SizedPlan> plans, std::shared_ptr<ThreadPool> pool,
              std::string report);

  /// Bundles have no code of several sizes for devices.
  std::optional<int> DeviceNumber() const override { return std::nullopt; }
  std::string Report() const override { return report_; }
  int Threads() const { return pool_->threads(); }
  size_t Plans() const { return plans_.size(); }

 protected:
  Result<VariantPtr> VariantFor(const Sizes& sizes) const override;
  Status LookFurther(size_t dimension, int64_t size) const override;

 private:
  Result<VariantPtr> MakeVariant(const SizedCode& code, const ExecutablePlan& plan) const;
  Error Refusal(const Sizes& sizes) const;

  std::map<SizedKey, SizedPlan> plans_;
  std::shared_ptr<ThreadPool> pool_;
  std::string report_;
};

}  // namespace tunec
