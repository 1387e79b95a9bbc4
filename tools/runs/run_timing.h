// Functions that time runs and steps of models, and make tables of the times.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autotune/measure/roofline.h"
#include "compiler/compiler.h"
#include "ir/array.h"
#include "runtime/executable.h"
#include "support/error.h"
#include "tools/runs/model_inputs.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// The limits of a timing. Without Ctrl-C, the timing ends after `runs` runs or `seconds`, but not
/// before `least_runs`.
struct TimingLimits {
  int warmup = 1;  // untimed runs before timing
  int runs = 100;
  int least_runs = 3;
  double seconds = 5;
};

struct Timing {
  std::vector<double> samples;  // seconds, in the order measured
  double Median() const;
  /// Returns the 95th percentile, nearest rank.
  double P95() const;
  double P99() const;
  double Least() const;
  /// Returns the interquartile range, relative to the median.
  double Spread() const;
};

/// Returns the medians of the timings. Timings without samples are omitted.
std::vector<double> MediansOf(const std::vector<Timing>& timings);

nlohmann::ordered_json TimingJson(const Timing& timing);

/// Runs the executable once, and returns the seconds of this run.
Result<double> TimeRun(const Executable& executable, const ModelBuffers& buffers);
/// Calls `round` until the limits are reached. Stops early at the first error, and after Ctrl-C if
/// one round is done.
Status RunRounds(const TimingLimits& limits, const std::function<Status()>& round);

/// An executable that is timed, alone or together with others. Each gets separate buffers.
struct TimedRun {
  const Executable* executable = nullptr;
  std::span<const Array> inputs;
};

/// Times whole runs of the executables after `warmup` untimed runs of each. The executables
/// alternate, so that a change of the clock rate affects all alike. RunRounds decides when to stop.
Result<std::vector<Timing>> TimeRuns(std::span<const TimedRun> runs, const TimingLimits& limits);

/// Returns the median seconds of each step.
Result<std::vector<double>> TimeSteps(const Executable& executable, std::span<const Array> inputs,
                                      const TimingLimits& limits);

/// The roofline from which shares are computed, or the reason why no reliable roofline exists.
struct ShownRoofline {
  std::optional<Roofline> roofline;
  std::string why_not;
};
ShownRoofline RooflineToShow(const Result<Roofline>& found);

/// Timing of a group of equal kernels, or of all copies.
struct KernelTiming {
  KernelReport kernel;            // report of the first kernel
  std::optional<int> group = {};  // number of the first kernel in `show --groups`
  int count = 0;
  double seconds = 0;         // sum over the kernels of the group
  double alone_seconds = 0;   // sum over the kernels, each run repeatedly alone; 0: not timed
  double roofline_share = 0;  // least possible time / time; 0: no ceiling of the arithmetic
  std::string limit;  // resource that limits the least possible time; empty without a roofline
};
/// Returns the arithmetics of the kernels, each once.
std::vector<const MacInstruction*> ArithmeticsOf(const CompileReport& report);

/// The seconds of each step, within runs of the model and alone.
struct StepSeconds {
  std::vector<double> in_model;
  std::vector<double> alone = {};  // each step run repeatedly alone; empty: not timed
};

/// Groups the timings by workload, with the greatest `seconds` first. Steps other than kernels
/// (copies) form one entry of kind "copy".
std::vector<KernelTiming> GroupTimings(const CompileReport& report,
                                       const std::vector<std::string>& step_names,
                                       const StepSeconds& seconds, const ShownRoofline& roofline);

/// Returns a cell with amount / seconds in billions per second. The cell is missing if one is 0.
Cell RateCell(double amount, double seconds);
/// Returns a cell with `timing.roofline_share`, or a missing cell if the share is 0.
Cell RooflineCell(const KernelTiming& timing);

/// Returns the table of KernelTimings. In the text, Shorten limits names to `name_width`.
TextTable TimingTable(const std::vector<KernelTiming>& timings, size_t name_width);
/// Returns the width of names: limited on a terminal, else unlimited.
size_t NameWidth();
/// Returns one line with the reason if there is no roofline. Otherwise returns a line with the
/// reason for each arithmetic whose ceiling is unknown or provisional.
std::string RooflineNotes(const std::vector<KernelTiming>& timings, const ShownRoofline& roofline);
/// Returns the table and the notes as text.
std::string PrintTimings(const std::vector<KernelTiming>& timings, const ShownRoofline& roofline);

}  // namespace tunec
