// Trials of other targets that are a start for this one.
#pragma once

#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Returns near keys that have correct trials of workloads of these texts, the nearest first. A
/// near key has the same processor, threads, accuracy and way of timing; sizes of caches or the
/// number of processors differ. Schedules that were right there are right here, and mostly fast.
/// Targets with a device have no near keys. Errors: of the database.
Result<std::vector<TuningKey>> NearKeys(const Database& database, const TuningKey& key,
                                        const std::vector<std::string>& texts);

}  // namespace tunec
