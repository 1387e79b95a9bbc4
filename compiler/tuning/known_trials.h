// Lookup of earlier trials of a model: the number of groups that are tuned for these options, and
// other keys under which more groups are tuned.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/compiler.h"
#include "compiler/tuning/tasks.h"
#include "db/database.h"

namespace tunec {

/// Counts the known trials, and describes another key under which more groups are tuned. Groups
/// with equal canonical text count as one.
Result<KnownTrials> FindKnownTrials(const Database& database, const ModelTasks& tasks,
                                    const CompileOptions& options);

}  // namespace tunec
