// Tune with another measurer than the worker process, for tests of the search.
#pragma once

#include "autotune/measurer.h"
#include "autotune/tuner.h"

namespace tunec {

Result<TuneReport> TuneWith(Database& database, const std::vector<TuningTask>& tasks,
                            const TunerOptions& options, Measurer& measurer);

/// One that makes the measurer only when there is something to measure.
using MakeMeasurer = std::function<Result<std::unique_ptr<Measurer>>()>;
Result<TuneReport> TuneWith(Database& database, const std::vector<TuningTask>& tasks,
                            const TunerOptions& options, const MakeMeasurer& make);

}  // namespace tunec
