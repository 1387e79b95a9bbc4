// How long a model takes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autotune/measure/roofline.h"
#include "compiler/compiler.h"
#include "ir/array.h"
#include "runtime/executable.h"
#include "support/error.h"
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

nlohmann::ordered_json TimingJson(const Timing& timing);

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
  double roofline_share = 0;  // of the least possible time; 0 without a roofline of its arithmetic
  std::string limit;          // what that time is for; empty without a roofline
};
/// What does the kernels' multiply-adds, each once.
std::vector<const MacInstruction*> ArithmeticsOf(const CompileReport& report);

/// Steps that are no kernels (copies) are one line of kind "copy".
std::vector<KernelTiming> GroupTimings(const CompileReport& report,
                                       const std::vector<std::string>& step_names,
                                       const std::vector<double>& step_seconds,
                                       const ShownRoofline& roofline);

/// The table of KernelTimings; names are cut to so many characters.
TextTable TimingTable(const std::vector<KernelTiming>& timings, size_t name_width);
/// Its text, with names in full unless it goes to a terminal.
std::string PrintTimings(const std::vector<KernelTiming>& timings, const ShownRoofline& roofline);

}  // namespace tunec
