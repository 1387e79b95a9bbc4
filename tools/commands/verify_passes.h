// `tunec verify --pass NAME`, `--pipeline`: checks of graph passes on a model.
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

/// Prints a row per pass: numerics, lint, parameters. Returns the exit code.
Result<int> PrintPassAnswers(const Graph& graph, const std::vector<std::string>& names,
                             const std::vector<InputSet>& inputs, const PassOptions& options,
                             const PassReport& report);

}  // namespace tunec
