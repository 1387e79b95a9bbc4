// The commands `tunec db record` and `tunec db simulate`, for tables of measured times
// (autotune/simulation).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/options/settings.h"
#include "support/error.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Measures candidates of one group of a model, and writes the table after each batch. Continues a
/// table that exists in the file. Errors: those of LoadModel, RunFrontEnd, FindGroup and
/// RecordTimes. Returns the exit code.
Result<int> RecordTable(const Settings& settings, const std::string& model,
                        const std::string& group, const std::string& file, int64_t candidates);

/// Prints the errors of simulated searches and of random draws on each table.
Status SimulateTables(const std::vector<std::string>& files, int64_t trials, int64_t seeds,
                      OutputForm form);

}  // namespace tunec
