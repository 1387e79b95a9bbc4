// Functions that make a table and a sentence about the predictions for GPU kernels.
#pragma once

#include <string>
#include <string_view>

#include "compiler/compiler.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Returns a row for each phase of the distinct kernels; no rows without device kernels.
TextTable PredictionTable(const CompileReport& report, size_t name_width);

/// Returns one sentence that names the GPU of the predicted times, and says if that GPU was
/// assumed. `gpu` is the user's choice or empty. Without times, the sentence gives the reason.
std::string DescribePrediction(const CompileReport& report, const Accelerator& device,
                               std::string_view gpu);

}  // namespace tunec
