// Tune with other parts than the worker process and schedule/'s sketches, for tests of the search.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "autotune/measure/ceilings.h"
#include "autotune/measure/measure_time.h"
#include "autotune/measure/measurer.h"
#include "autotune/tuner.h"

namespace tunec {

/// The sketches of a task, the naive one last.
using SketchSource = std::function<std::vector<Sketch>(const TuningTask&)>;

/// What Tune stands on.
struct TuningParts {
  /// Called at most once, and only when there is something to measure.
  std::function<Result<std::unique_ptr<Measurer>>()> make_measurer;
  SketchSource sketches;
  /// Measures the machine's ceilings.
  Ceilings::Meters ceilings;
  /// Whether others use the machine now. Empty: nobody does.
  std::function<bool()> machine_is_busy;
  /// Seconds since some fixed moment.
  Clock clock = SteadyClock();
};

Result<TuneReport> TuneWith(Database& database, const std::vector<TuningTask>& tasks,
                            const TunerOptions& options, const TuningParts& parts);

}  // namespace tunec
