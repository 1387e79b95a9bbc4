// Tuning that continues after the call that compiled the model.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/run/executable.h"
#include "autotune/tuner.h"
#include "runtime/executable.h"
#include "support/error.h"

namespace tunec {

/// The executable of a model with its report as JSON.
struct ReportedExecutable {
  std::shared_ptr<const Executable> executable;
  std::string report;
};

/// Functions that the tuning calls. `cancelled` returns true when the tuning must end.
struct TuningHooks {
  std::function<bool()> cancelled;
  std::function<void(const TuneProgress&)> on_progress;
};
using TuneJob = std::function<Result<ReportedExecutable>(const TuningHooks&)>;

/// Starts a thread that calls `tune` once. Until `tune` returns, runs use `first`; after success,
/// runs use the result. The end of the program ends the tuning.
std::unique_ptr<BackgroundTuning> TuneInBackground(ReportedExecutable first, TuneJob tune);

}  // namespace tunec
