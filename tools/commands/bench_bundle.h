// A function that runs `tunec bench` for a bundle.
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

/// Times the loading of a bundle and runs of its model, and prints the times.
Result<int> BenchBundle(const BundleBench& bench);

}  // namespace tunec
