// Function ChooseFinalist, which compares the fastest candidates of a search and chooses one.
#pragma once

#include "autotune/measure/measurer.h"
#include "autotune/search/task_search.h"
#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Compares the finalists of a search in turns for about `seconds`, and chooses one (Choose of
/// Database). The reference is the schedule that was chosen before, otherwise the analytic one. The
/// finalists are the reference, the analytic schedule, and the candidates that may be within 5 % of
/// the fastest one. The fastest finalist is chosen if the whole interval of its median ratio to the
/// reference lies below 1, otherwise the reference. The new samples replace the recorded ones. If
/// the comparison fails, records and choice stay. Errors: of the database; kCancelled.
Status ChooseFinalist(TaskSearch& search, Measurer& measurer, Database& database, double seconds);

}  // namespace tunec
