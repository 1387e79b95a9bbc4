#include "tools/runs/run_timing.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/check.h"
#include "tools/runs/model_inputs.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

constexpr size_t kNameOnTerminal = 40;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the quantile of a rank between 0 (the least sample) and 1 (the greatest sample).
double Quantile(std::vector<double> samples, double rank) {
  TUNEC_CHECK(!samples.empty(), "no samples");
  const auto index =
      static_cast<size_t>(std::clamp(std::ceil(rank * static_cast<double>(samples.size())) - 1.0,
                                     0.0, static_cast<double>(samples.size() - 1)));
  std::ranges::nth_element(samples, samples.begin() + static_cast<ptrdiff_t>(index));
  return samples[index];
}

bool HasEnoughRuns(int runs, double start, const TimingLimits& limits) {
  if (Interrupted() && runs > 0) return true;
  if (runs < limits.least_runs) return false;
  return runs >= limits.runs || Now() - start > limits.seconds;
}

}  // namespace

double Timing::Median() const { return Quantile(samples, 0.5); }
double Timing::P95() const { return Quantile(samples, 0.95); }
double Timing::P99() const { return Quantile(samples, 0.99); }
double Timing::Least() const { return Quantile(samples, 0); }
double Timing::Spread() const {
  return (Quantile(samples, 0.75) - Quantile(samples, 0.25)) / Median();
}

std::vector<double> MediansOf(const std::vector<Timing>& timings) {
  std::vector<double> medians;
  for (const Timing& timing : timings)
    if (!timing.samples.empty()) medians.push_back(timing.Median());
  return medians;
}

Result<double> TimeRun(const Executable& executable, const ModelBuffers& buffers) {
  const double before = Now();
  TUNEC_RETURN_IF_ERROR(executable.Run(buffers.from, buffers.to));
  return Now() - before;
}

Status RunRounds(const TimingLimits& limits, const std::function<Status()>& round) {
  const double start = Now();
  for (int done = 0; !HasEnoughRuns(done, start, limits); ++done) TUNEC_RETURN_IF_ERROR(round());
  return {};
}

Result<std::vector<Timing>> TimeRuns(std::span<const TimedRun> runs, const TimingLimits& limits) {
  std::vector<ModelBuffers> buffers;
  buffers.reserve(runs.size());
  for (const TimedRun& run : runs) {
    TUNEC_ASSIGN(buffers.emplace_back(), ModelBuffers::Make(*run.executable, run.inputs));
    for (int i = 0; i < limits.warmup; ++i)
      TUNEC_RETURN_IF_ERROR(run.executable->Run(buffers.back().from, buffers.back().to));
  }
  std::vector<Timing> timings(runs.size());
  const auto round = [&]() -> Status {
    for (size_t i = 0; i < runs.size(); ++i) {
      // Another executable replaced the data in the caches, so an untimed run is first.
      if (runs.size() > 1)
        TUNEC_RETURN_IF_ERROR(runs[i].executable->Run(buffers[i].from, buffers[i].to));
      TUNEC_ASSIGN(timings[i].samples.emplace_back(), TimeRun(*runs[i].executable, buffers[i]));
    }
    return {};
  };
  TUNEC_RETURN_IF_ERROR(RunRounds(limits, round));
  return timings;
}

Result<std::vector<double>> TimeSteps(const Executable& executable, std::span<const Array> inputs,
                                      const TimingLimits& limits) {
  TUNEC_ASSIGN(ModelBuffers buffers, ModelBuffers::Make(executable, inputs));
  std::vector<Timing> steps(executable.StepNames().size());
  const auto round = [&]() -> Status {
    TUNEC_ASSIGN(const std::vector<double> seconds,
                 executable.ProfileRun(buffers.from, buffers.to));
    for (size_t i = 0; i < seconds.size(); ++i) steps[i].samples.push_back(seconds[i]);
    return {};
  };
  TUNEC_RETURN_IF_ERROR(RunRounds(limits, round));
  return MediansOf(steps);
}

ShownRoofline RooflineToShow(const Result<Roofline>& found) {
  ShownRoofline shown;
  if (found && found->IsReliable()) {
    shown.roofline = *found;
  } else if (found && found->IsProvisional()) {
    shown.why_not = fmt::format(
        "others had {:.0f} % of the machine while the ceilings were measured; "
        "tunec doctor --measure measures them again",
        100 * found->Float32().disturbance);
  } else if (found || found.error().code == ErrorCode::kNotFound) {
    shown.why_not =
        "the ceilings of these threads are not known; tunec doctor --measure measures them";
  } else {
    shown.why_not = found.error().message;
  }
  return shown;
}

std::vector<const MacInstruction*> ArithmeticsOf(const CompileReport& report) {
  std::vector<const MacInstruction*> used;
  for (const KernelReport& kernel : report.kernels) {
    if (!kernel.arithmetic) continue;
    if (std::ranges::find(used, kernel.arithmetic->by) == used.end()) {
      used.push_back(kernel.arithmetic->by);
    }
  }
  return used;
}

std::vector<KernelTiming> GroupTimings(const CompileReport& report,
                                       const std::vector<std::string>& step_names,
                                       const StepSeconds& seconds, const ShownRoofline& roofline) {
  std::vector<KernelTiming> timings;
  std::map<std::string, size_t> of_workload;
  size_t kernel = 0;  // kernels are in the order of the steps, with copies between them
  for (size_t step = 0; step < step_names.size(); ++step) {
    KernelReport described{.name = "copies", .kind = "copy"};
    std::optional<int> group;
    if (kernel < report.kernels.size() && report.kernels[kernel].name == step_names[step]) {
      group = static_cast<int>(kernel);
      described = report.kernels[kernel++];
    }
    const auto [found, inserted] = of_workload.emplace(described.workload, timings.size());
    if (inserted) timings.push_back({.kernel = described, .group = group});
    timings[found->second].count += 1;
    timings[found->second].seconds += seconds.in_model[step];
    if (!seconds.alone.empty()) timings[found->second].alone_seconds += seconds.alone[step];
  }
  for (KernelTiming& timing : timings) {
    const KernelReport& of = timing.kernel;
    if (!roofline.roofline || timing.seconds <= 0) continue;
    const auto bound = roofline.roofline->BoundFor(of.arithmetic, of.flops, of.bytes);
    if (!bound || bound->seconds <= 0) continue;
    timing.roofline_share = bound->seconds * timing.count / timing.seconds;
    timing.limit = Name(bound->by);
  }
  std::ranges::stable_sort(timings, std::greater(), &KernelTiming::seconds);
  return timings;
}

Cell RateCell(double amount, double seconds) {
  if (amount <= 0 || seconds <= 0) return Missing();
  const double rate = amount / seconds / 1e9;
  return {fmt::format("{:.1f}", rate), rate};
}

Cell ShareCell(double share, int decimals) {
  return {fmt::format("{:.{}f} %", 100 * share, decimals), share};
}

Cell RooflineCell(const KernelTiming& timing) {
  return timing.roofline_share > 0 ? ShareCell(timing.roofline_share, 0) : Missing();
}

namespace {

std::string WhyNoRoofline(const MacInstruction& by,
                          const std::optional<ArithmeticCeiling>& ceiling) {
  if (!ceiling) {
    return fmt::format("{}: its ceiling is not known; tunec doctor --measure measures it",
                       Describe(by));
  }
  return fmt::format(
      "{}: others had {:.0f} % of the machine while its ceiling was measured; "
      "tunec doctor --measure measures it again",
      Describe(by), 100 * ceiling->disturbance);
}

// Returns a line for each arithmetic whose ceiling is unknown or provisional.
std::string UnknownArithmetics(const std::vector<KernelTiming>& timings, const Roofline& roofline) {
  std::string lines;
  std::set<std::string> seen;
  for (const KernelTiming& timing : timings) {
    if (!timing.kernel.arithmetic) continue;
    const MacInstruction& by = *timing.kernel.arithmetic->by;
    const std::optional<ArithmeticCeiling> ceiling = roofline.CeilingOf(by);
    if ((ceiling && !ceiling->IsProvisional()) || !seen.insert(by.name).second) continue;
    lines += fmt::format("(no roofline of {})\n", WhyNoRoofline(by, ceiling));
  }
  return lines;
}

}  // namespace

TextTable TimingTable(const std::vector<KernelTiming>& timings, size_t name_width) {
  TextTable table({{"group", Align::kRight},
                   {"kernel", Align::kLeft, "name"},
                   {"kind"},
                   {"workload", Align::kLeft, "", ColumnVisibility::kInJson},
                   {"count", Align::kRight},
                   {"each", Align::kRight, "each_ms"},
                   {"total_ms", Align::kRight, "", ColumnVisibility::kInJson},
                   {"share", Align::kRight},
                   {"GFLOP/s", Align::kRight, "gflops_per_second"},
                   {"GB/s", Align::kRight, "gbytes_per_second"},
                   {"flops", Align::kRight, "", ColumnVisibility::kInJson},
                   {"bytes", Align::kRight, "", ColumnVisibility::kInJson},
                   {"roofline", Align::kRight},
                   {"limit"},
                   {"arithmetic", Align::kLeft, "", ColumnVisibility::kInJson},
                   {"schedule"}});
  double total = 0;
  for (const KernelTiming& timing : timings) total += timing.seconds;
  for (const KernelTiming& timing : timings) {
    const KernelReport& kernel = timing.kernel;
    const double each = timing.seconds / timing.count;
    table.AddRow({timing.group ? CountCell(*timing.group) : Missing(),
                  {Shorten(kernel.name, name_width), kernel.name},
                  kernel.kind,
                  kernel.workload,
                  CountCell(timing.count),
                  {DurationText(each), 1e3 * each},
                  {"", 1e3 * timing.seconds},
                  ShareCell(timing.seconds / total, 1),
                  RateCell(kernel.flops, each),
                  RateCell(kernel.bytes, each),
                  {"", kernel.flops},
                  {"", kernel.bytes},
                  RooflineCell(timing),
                  timing.limit.empty() ? Missing() : timing.limit,
                  kernel.arithmetic ? Cell(kernel.arithmetic->by->name) : Missing(),
                  kernel.sketch_source});
  }
  return table;
}

nlohmann::ordered_json TimingJson(const Timing& timing) {
  return {{"median_ms", 1e3 * timing.Median()}, {"p95_ms", 1e3 * timing.P95()},
          {"p99_ms", 1e3 * timing.P99()},       {"min_ms", 1e3 * timing.Least()},
          {"spread", timing.Spread()},          {"runs", timing.samples.size()}};
}

size_t NameWidth() { return isatty(STDOUT_FILENO) != 0 ? kNameOnTerminal : SIZE_MAX; }

std::string RooflineNotes(const std::vector<KernelTiming>& timings, const ShownRoofline& roofline) {
  if (!roofline.roofline) return fmt::format("(no roofline: {})\n", roofline.why_not);
  return UnknownArithmetics(timings, *roofline.roofline);
}

std::string PrintTimings(const std::vector<KernelTiming>& timings, const ShownRoofline& roofline) {
  return TimingTable(timings, NameWidth()).Print() + RooflineNotes(timings, roofline);
}

}  // namespace tunec
