// Times the winners of a search again.
#pragma once

#include "autotune/measure/measurer.h"
#include "autotune/search/task_search.h"
#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Times candidates close to the best again in turns, and records the new times. A failed request
/// leaves the old times. Errors: of the database; kCancelled.
Status RetimeBest(TaskSearch& search, Measurer& measurer, Database& database);

}  // namespace tunec
