// What trials under other policies leave for a search that measures: their schedules. Their times
// are another measure's, and a search must not take them for its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Trials of a key's workload that are worth measuring early, by how much is known of them.
struct Seeds {
  /// The fastest under each other policy by which this target was measured, and under each by which
  /// the earlier text was: of an earlier version, or with the arguments placed otherwise. The
  /// current version's come first; behind all these the fastest of near keys.
  std::vector<TrialRecord> measured;
  /// Correct ones whose times were predicted for the key's GPU, the fastest first. Those of the
  /// very same GPU come before those of others of its architecture, as when a part was assumed that
  /// is not the one that is here.
  std::vector<TrialRecord> predicted;
};

/// At most `predictions` of the predicted. `earlier_text` is how earlier versions wrote the
/// workload, if they did so otherwise: only that has seeds for keys of predictions themselves.
/// Errors: of the database.
Result<Seeds> FindSeeds(const Database& database, const TuningKey& key, size_t predictions,
                        const std::optional<std::string>& earlier_text = {});

}  // namespace tunec
