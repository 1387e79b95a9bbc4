// A reduction with its followers, whose sums `stage` can put into registers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

struct OwnSums {
  /// Moves the sums to workspace if they would be written directly to an argument.
  std::optional<CacheWriteStep> cache_write;
  std::shared_ptr<const Compute> compute;  // after `cache_write`
  std::vector<std::string> followers;      // the statements after the reduction
  std::vector<std::string> registers;      // the workspace tensors that the statements write

  const Statement& sum() const { return compute->statements.front(); }
};

/// Returns the sums of a reduction and its followers (StatementsOf). Returns nothing if the sums
/// cannot be moved.
std::optional<OwnSums> MakeOwnSums(const Compute& compute);

}  // namespace tunec
