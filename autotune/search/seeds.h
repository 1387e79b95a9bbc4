// Seeds: schedules of trials under other policies, for a search that measures. Times under another
// policy are not comparable with those of the search, so only the schedules are used.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Trials of a key's workload that are worth measuring early, grouped by the source of their times.
struct Seeds {
  /// The fastest trial of this target under each other policy, and under each policy for the
  /// earlier text. Such policies are of an earlier version, or place the arguments differently.
  /// Policies of the current version come first; the fastest trials of near keys come last.
  std::vector<TrialRecord> measured;
  /// Correct trials with times predicted for the key's GPU, the fastest first. Trials of exactly
  /// this GPU come before trials of others of the same architecture. The latter happen if
  /// predictions assumed a GPU model different from the present one.
  std::vector<TrialRecord> predicted;
};

/// Returns the seeds of a key, with at most `predictions` predicted ones. `earlier_text` is the
/// workload text of earlier versions, if it differs. If the key is itself one of predictions, only
/// the earlier text has seeds. Errors: of the database.
Result<Seeds> FindSeeds(const Database& database, const TuningKey& key, size_t predictions,
                        const std::optional<std::string>& earlier_text = {});

}  // namespace tunec
