// Trials under other keys that are a start for one key.
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

/// Returns the keys but `key` that have correct trials of workloads of these texts. Errors: of the
/// database.
Result<std::vector<TuningKey>> OtherKeys(const Database& database, const TuningKey& key,
                                         const std::vector<std::string>& texts);

/// Returns those of OtherKeys that are near, the nearest first. A near key has the same processor,
/// threads, accuracy and way of timing. Sizes of caches or the number of processors differ.
/// Schedules that were right there are right here, and mostly fast. Targets with a device have no
/// near keys.
std::vector<TuningKey> NearOf(std::vector<TuningKey> others, const TuningKey& key);

/// Returns the near keys among OtherKeys. Errors: of the database.
Result<std::vector<TuningKey>> NearKeys(const Database& database, const TuningKey& key,
                                        const std::vector<std::string>& texts);

}  // namespace tunec
