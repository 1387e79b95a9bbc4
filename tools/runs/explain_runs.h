// Functions that compare a model's time with the times of its groups, within the model and alone.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/executable.h"
#include "support/error.h"
#include "tools/draw/draw_roofline.h"
#include "tools/runs/run_timing.h"
#include "tools/terminal/text_table.h"

namespace tunec {

struct ExplainedRuns {
  Timing model;       // whole runs, without measurements between the steps
  StepSeconds steps;  // medians; on a GPU `alone` is empty
};

/// Times whole runs, the steps within a run, and on a CPU each step alone. These measurements
/// alternate until RunRounds ends.
Result<ExplainedRuns> ExplainRuns(const Executable& executable, std::span<const Array> inputs,
                                  const TimingLimits& limits);

/// Returns one row for each entry of `kernels`, the result of GroupTimings. If `ceilings` has no
/// roofline, shares of ceilings are missing.
TextTable ExplanationTable(const std::vector<KernelTiming>& kernels, const ShownRoofline& ceilings,
                           size_t name_width);

/// Returns a picture of the measured ceilings, and of the kernels that have operations, bytes and a
/// time.
RooflinePicture PictureOf(const std::string& title, const std::vector<KernelTiming>& kernels,
                          const Roofline& roofline);

/// Returns a text with the model's time, and with the sums of the steps' times in `runs`.
std::string SumsText(const ExplainedRuns& runs);
nlohmann::ordered_json SumsJson(const ExplainedRuns& runs);

}  // namespace tunec
