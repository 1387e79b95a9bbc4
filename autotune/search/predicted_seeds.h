// What trials of predicted times leave for a search that measures.
#pragma once

#include <cstddef>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// At most `count` correct trials of the key's workload whose times were predicted for its GPU, the
/// fastest first: worth measuring early. Those of the very same GPU come before those of others of
/// its architecture, as when a part was assumed that is not the one that is here. Their times are
/// nobody's: a search must not take them for its own. None for keys of predictions themselves.
/// Errors: of the database.
Result<std::vector<TrialRecord>> PredictedSeeds(const Database& database, const TuningKey& key,
                                                size_t count);

}  // namespace tunec
