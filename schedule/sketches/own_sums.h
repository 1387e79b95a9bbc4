// A reduction and its followers, which are the elementwise statements after the reduction. Both are
// prepared for the step `stage`, which puts the sums into registers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

struct OwnSums {
  /// The step that moves the sums to workspace. Empty if the original reduction writes its sums to
  /// workspace.
  std::optional<CacheWriteStep> cache_write;
  std::shared_ptr<const Compute> compute;  // after `cache_write`
  std::vector<std::string> followers;      // the statements after the reduction
  std::vector<std::string> registers;      // the workspace tensors that the statements write

  const Statement& sum() const { return compute->statements.front(); }
};

/// Returns the OwnSums of a Compute with one reduction and its followers (StatementsOf). Returns
/// nothing if the sums would have to be moved to workspace and `cache_write` does not apply.
std::optional<OwnSums> MakeOwnSums(const Compute& compute);

}  // namespace tunec
