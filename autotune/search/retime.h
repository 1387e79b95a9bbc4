// The winners of a search timed again.
#pragma once

#include "autotune/measure/measurer.h"
#include "autotune/search/task_search.h"
#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Times those close to the best again in turns, and records their new times. A request that fails
/// leaves the old ones. Errors: of the database; kCancelled.
Status RetimeBest(TaskSearch& search, Measurer& measurer, Database& database);

}  // namespace tunec
