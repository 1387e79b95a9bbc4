// A function that verifies graph passes on a model, for `tunec verify` with --pass or --pipeline.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/passes/verify_pass.h"
#include "tools/terminal/text_table.h"

namespace tunec {

struct PassReport {
  double tolerance = 0;
  OutputForm form = OutputForm::kText;
};

/// Runs VerifyPasses, and prints a row for each entry of its result. Returns the exit code, or an
/// error of VerifyPasses.
Result<int> PrintPassAnswers(const Graph& graph, const std::vector<std::string>& names,
                             const std::vector<InputSet>& inputs, const PassOptions& options,
                             const PassReport& report);

}  // namespace tunec
