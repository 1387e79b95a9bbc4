// Seeds: trials under other keys, whose schedules a search tries early. The times of seeds may not
// be comparable with those of the search, so only the schedules are used.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Trials of a key's workload whose schedules are worth measuring early.
struct Seeds {
  /// The fastest correct trial under each other key of this target and workload. Such a key has the
  /// policy of another version, names other callers' arguments, or has the earlier workload text.
  /// Keys with the current method of timing come first. The fastest trials under at most two near
  /// keys come last.
  std::vector<TrialRecord> measured;
  /// Correct trials with times predicted for the key's GPU or for GPUs of the same architecture.
  /// Trials for exactly this GPU come first; within one key the fastest come first. Trials for
  /// other GPUs exist if predictions were made for another model of the architecture.
  std::vector<TrialRecord> predicted;
};

/// Returns the seeds of a key, with at most `predictions` predicted ones. `earlier_text` is the
/// workload text of earlier versions, if it differs. A key of predictions has seeds only under the
/// earlier text. Errors: of the database.
Result<Seeds> FindSeeds(const Database& database, const TuningKey& key, size_t predictions,
                        const std::optional<std::string>& earlier_text = {});

}  // namespace tunec
