// Functions that find, for one key, the other keys in the database whose schedules may be used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/records.h"
#include "support/error.h"

namespace tunec {

/// Returns the texts of a key's workload: its own, and the one of earlier versions if there is one.
std::vector<std::string> KnownTexts(const TuningKey& key,
                                    const std::optional<std::string>& earlier);

/// Returns all keys except `key` whose workload has one of these texts and whose schedule version
/// is that of `key`, if they have correct trials. Errors: of the database.
Result<std::vector<TuningKey>> FindOtherKeys(const Database& database, const TuningKey& key,
                                             const std::vector<std::string>& texts);

/// Returns the near keys among `others`, the nearest first. A near key has the same processor,
/// threads, accuracy and method of timing, but other sizes of caches or another number of cores.
/// Schedules that are correct under a near key are also correct under `key`, and mostly fast.
/// Targets with a device have no near keys.
std::vector<TuningKey> SelectNearKeys(std::vector<TuningKey> others, const TuningKey& key);

/// Returns SelectNearKeys of the keys that FindOtherKeys returns. Errors: of the database.
Result<std::vector<TuningKey>> NearKeys(const Database& database, const TuningKey& key,
                                        const std::vector<std::string>& texts);

}  // namespace tunec
