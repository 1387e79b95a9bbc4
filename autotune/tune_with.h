// The function TuneWith: Tune with replaceable parts. Tests of the search replace them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "autotune/measure/ceilings.h"
#include "autotune/measure/measure_time.h"
#include "autotune/measure/measurer.h"
#include "autotune/tuner.h"

namespace tunec {

/// A function that returns the sketches of a task, the naive one last.
using SketchSource = std::function<std::vector<Sketch>(const TuningTask&)>;

/// The replaceable parts of Tune.
struct TuningParts {
  /// Starts the measurer. Called at most once, and only if trials are left and a task is open.
  std::function<Result<std::unique_ptr<Measurer>>()> make_measurer;
  SketchSource sketches;
  /// The functions that measure the machine's ceilings.
  Ceilings::Meters ceilings;
  /// Returns true if other processes use the machine now. If the function is empty, the machine
  /// counts as idle.
  std::function<bool()> machine_is_busy;
  /// Returns the seconds since a fixed moment.
  Clock clock = SteadyClock();
};

Result<TuneReport> TuneWith(Database& database, const std::vector<TuningTask>& tasks,
                            const TunerOptions& options, const TuningParts& parts);

}  // namespace tunec
