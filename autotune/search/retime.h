// Function RetimeBest, which times the fastest candidates of a search again.
#pragma once

#include "autotune/measure/measurer.h"
#include "autotune/search/task_search.h"
#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Times up to four candidates close to the best again in alternation, and records the new times. A
/// single candidate is not timed. If the timing fails, the old times stay. Errors: of the database;
/// kCancelled.
Status RetimeBest(TaskSearch& search, Measurer& measurer, Database& database);

}  // namespace tunec
