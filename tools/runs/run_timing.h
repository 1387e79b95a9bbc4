// How long a model takes.
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

/// When to stop timing: after this many runs, or these seconds, but not before `least_runs`.
struct TimingLimits {
  int warmup = 1;  // untimed runs before
  int runs = 100;
  int least_runs = 3;
  double seconds = 5;
};

struct Timing {
  std::vector<double> samples;  // seconds, in the order measured
  double Median() const;
  /// The 95th percentile, nearest rank.
  double P95() const;
  double P99() const;
  double Least() const;
  /// The distance between the quartiles, relative to the median.
  double Spread() const;
};

/// Of those that have samples.
std::vector<double> MediansOf(const std::vector<Timing>& timings);

nlohmann::ordered_json TimingJson(const Timing& timing);

/// The seconds of one run.
Result<double> TimeRun(const Executable& executable, const ModelBuffers& buffers);
/// Rounds until the limits say that there were enough. Stops early on Ctrl-C.
Status RunRounds(const TimingLimits& limits, const std::function<Status()>& round);

/// One executable of several that are timed together, with its own buffers.
struct TimedRun {
  const Executable* executable = nullptr;
  std::span<const Array> inputs;
};

/// Times whole runs of each in turn, so that drift of the clock falls on all alike, after
/// untimed runs. Stops early on Ctrl-C.
Result<std::vector<Timing>> TimeRuns(std::span<const TimedRun> runs, const TimingLimits& limits);

/// The median seconds of each step.
Result<std::vector<double>> TimeSteps(const Executable& executable, std::span<const Array> inputs,
                                      const TimingLimits& limits);

/// The ceilings that shares are of, or one line that says why there are none to trust.
struct ShownRoofline {
  std::optional<Roofline> roofline;
  std::string why_not;
};
ShownRoofline RooflineToShow(const Result<Roofline>& found);

/// Equal kernels taken together, the costliest first.
struct KernelTiming {
  KernelReport kernel;            // of the first
  std::optional<int> group = {};  // the number that `show --groups` gives the first
  int count = 0;
  double seconds = 0;         // of all of them
  double alone_seconds = 0;   // likewise, run again and again by themselves; 0: not timed
  double roofline_share = 0;  // of the least possible time; 0 without a roofline of its arithmetic
  std::string limit;          // what that time is for; empty without a roofline
};
/// What does the kernels' multiply-adds, each once.
std::vector<const MacInstruction*> ArithmeticsOf(const CompileReport& report);

/// What each step takes.
struct StepSeconds {
  std::vector<double> in_model;
  std::vector<double> alone = {};  // again and again by itself; empty: not timed
};

/// Steps that are no kernels (copies) are one line of kind "copy".
std::vector<KernelTiming> GroupTimings(const CompileReport& report,
                                       const std::vector<std::string>& step_names,
                                       const StepSeconds& seconds, const ShownRoofline& roofline);

/// Billions of a second; missing where one of both is 0.
Cell RateCell(double amount, double seconds);
/// Of the least possible time.
Cell RooflineCell(const KernelTiming& timing);

/// The table of KernelTimings; names are cut to so many characters.
TextTable TimingTable(const std::vector<KernelTiming>& timings, size_t name_width);
/// Names stand in full unless they go to a terminal.
size_t NameWidth();
/// A line for what has no roofline, and why.
std::string RooflineNotes(const std::vector<KernelTiming>& timings, const ShownRoofline& roofline);
/// Table and notes.
std::string PrintTimings(const std::vector<KernelTiming>& timings, const ShownRoofline& roofline);

}  // namespace tunec
