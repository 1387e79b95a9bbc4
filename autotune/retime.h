// The winners of a search timed again.
#pragma once

#include "autotune/measurer.h"
#include "autotune/task_search.h"
#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Times those close to the best again in turns, and records their new times. A request that fails
/// leaves the old ones. Errors: of the database; kCancelled.
Status RetimeBest(TaskSearch& search, Measurer& measurer, Database& database);

}  // namespace tunec
