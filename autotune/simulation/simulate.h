// Simulated searches on a table of measured times. The code of the search is that of a tuning; only
// the measurer is replaced.
//
// A proposed candidate has the time of the nearest entry of its sketch (NearestEntry). Each sample
// has log-normal noise of the entry's spread. So the errors that a search makes between
// neighbouring entries are not seen, and neither is a difference between two measurements of one
// candidate.
#pragma once

#include <cstdint>

#include "autotune/simulation/time_table.h"
#include "support/error.h"

namespace tunec {

/// The errors of one search. Times without noise are called true.
struct SimulatedErrors {
  double exploration = 0;  // least true time of the tried over the least of the table, minus 1
  double selection = 0;    // true time of the chosen over the least true time of the tried, minus 1
  int64_t trials = 0;
};

/// Simulates a tuning with this number of trials. Equal arguments give equal results. Errors: those
/// of TuneWith; kNotFound if no tried candidate is correct.
Result<SimulatedErrors> SimulateSearch(const TimeTable& table, int64_t trials, uint64_t seed);

/// Simulates the measurement of `trials` different entries, drawn uniformly from the table. The one
/// with the least median is chosen; finalists are not compared. Error: kNotFound as above.
Result<SimulatedErrors> SimulateDraws(const TimeTable& table, int64_t trials, uint64_t seed);

}  // namespace tunec
