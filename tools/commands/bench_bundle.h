// `tunec bench` for bundles.
#pragma once

#include <cstdint>
#include <string>

#include "support/error.h"
#include "tools/options/model_options.h"
#include "tools/runs/run_timing.h"
#include "tools/terminal/text_table.h"

namespace tunec {

struct BundleBench {
  const CompileArguments& model;
  TimingLimits limits;
  std::string inputs;  // a file; empty: random inputs
  uint64_t input_seed = 0;
  OutputForm form = OutputForm::kText;
};

/// Times loading and runs, and prints both times.
Result<int> BenchBundle(const BundleBench& bench);

}  // namespace tunec
