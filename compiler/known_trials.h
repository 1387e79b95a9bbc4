// What earlier tunings left for a model: how many of its groups are tuned for this target, and
// where not, under which other keys they are.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/compiler.h"
#include "compiler/tasks.h"
#include "db/database.h"

namespace tunec {

/// Groups of equal statements are one here.
Result<KnownTrials> FindKnownTrials(const Database& database, const Tasks& tasks,
                                    const CompileOptions& options);

}  // namespace tunec
