// A reduction with what follows it, its sums where `stage` can give them registers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/steps/compute_steps.h"

namespace tunec {

struct OwnSums {
  /// Where the sums would go straight into an argument: they are moved to workspace.
  std::optional<CacheWriteStep> cache_write;
  std::shared_ptr<const Compute> compute;  // as that leaves it
  std::vector<std::string> followers;      // the statements after the reduction
  std::vector<std::string> registers;      // the workspace tensors that the statements write

  const Statement& sum() const { return compute->statements.front(); }
};

/// Of a reduction and its followers alone (StatementsOf). None where sums can't be moved.
std::optional<OwnSums> MakeOwnSums(const Compute& compute);

}  // namespace tunec
