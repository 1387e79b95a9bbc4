// The report of `tunec db explain-miss`: the groups of a model that have no tuned schedule, and how
// the keys of similar trials in the database differ from the keys that are looked up.
#pragma once

#include <string>

#include "compiler/options/settings.h"
#include "db/database.h"
#include "support/error.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Prints a row for each distinct group of the model. Fails like LoadModel and RunFrontEnd, and for
/// errors of the database.
Status ExplainMisses(const Database& database, const Settings& settings, const std::string& model,
                     OutputForm form);

}  // namespace tunec
