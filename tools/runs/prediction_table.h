// What is known of a GPU's kernels before they ever ran, for people.
#pragma once

#include <string>
#include <string_view>

#include "compiler/compiler.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// A row for each phase of the different kernels; none without kernels of a device.
TextTable PredictionTable(const CompileReport& report, size_t name_width);

/// One sentence that says for which GPU the times are predicted, and whether it was assumed: `gpu`
/// is the one that the user named, or empty. Where there are no times, why.
std::string DescribePrediction(const CompileReport& report, const Accelerator& device,
                               std::string_view gpu);

}  // namespace tunec
