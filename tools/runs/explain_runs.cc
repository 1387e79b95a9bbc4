#include "tools/runs/explain_runs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/runs/model_inputs.h"

namespace tunec {
namespace {

// The number of consecutive runs of a step alone. The time of the first is not used.
constexpr int kRepeats = 4;
constexpr size_t kLongestLabel = 40;

double Sum(const std::vector<double>& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

class RunExplainer {
 public:
  RunExplainer(const Executable& executable, ModelBuffers buffers)
      : executable_(executable),
        buffers_(std::move(buffers)),
        in_model_(executable.StepNames().size()),
        alone_(in_model_.size()) {}

  Status Warm(int runs) {
    for (int i = 0; i < runs; ++i)
      TUNEC_RETURN_IF_ERROR(executable_.Run(buffers_.from, buffers_.to));
    return {};
  }

  Status Round() {
    TUNEC_RETURN_IF_ERROR(Warm(1));  // steps alone left other data in the caches
    TUNEC_ASSIGN(const double whole, TimeRun(executable_, buffers_));
    model_.samples.push_back(whole);
    TUNEC_ASSIGN(const std::vector<double> steps,
                 executable_.ProfileRun(buffers_.from, buffers_.to));
    for (size_t i = 0; i < steps.size(); ++i) in_model_[i].samples.push_back(steps[i]);
    return StepsAlone();
  }

  ExplainedRuns Finish() { return {std::move(model_), {MediansOf(in_model_), MediansOf(alone_)}}; }

 private:
  Status StepsAlone() {
    const auto seconds = executable_.ProfileRepeated(buffers_.from, buffers_.to, kRepeats);
    if (!seconds) {
      const bool device = seconds.error().code == ErrorCode::kUnsupported;
      return device ? Status() : std::unexpected(seconds.error());
    }
    for (size_t i = 0; i < seconds->size(); ++i)
      if (i % kRepeats != 0) alone_[i / kRepeats].samples.push_back((*seconds)[i]);
    return {};
  }

  const Executable& executable_;
  ModelBuffers buffers_;
  Timing model_;
  std::vector<Timing> in_model_, alone_;
};

Cell TimeCell(double seconds) {
  if (seconds <= 0) return Missing();
  return {DurationText(seconds), 1e3 * seconds};
}

// Returns a kernel's rate as a share of its arithmetic's ceiling, even if memory limits the kernel.
// Returns a missing cell if the share is unknown.
Cell CeilingShare(const KernelTiming& timing, const ShownRoofline& ceilings) {
  const KernelReport& kernel = timing.kernel;
  if (!ceilings.roofline || !kernel.arithmetic || kernel.flops <= 0) return Missing();
  const std::optional<double> peak = ceilings.roofline->PeakFlops(*kernel.arithmetic);
  if (!peak || timing.seconds <= 0) return Missing();
  const double share = kernel.flops * timing.count / timing.seconds / *peak;
  return {fmt::format("{:.0f} %", 100 * share), share};
}

}  // namespace

Result<ExplainedRuns> ExplainRuns(const Executable& executable, std::span<const Array> inputs,
                                  const TimingLimits& limits) {
  TUNEC_ASSIGN(ModelBuffers buffers, ModelBuffers::Make(executable, inputs));
  RunExplainer explaining(executable, std::move(buffers));
  TUNEC_RETURN_IF_ERROR(explaining.Warm(limits.warmup));
  TUNEC_RETURN_IF_ERROR(RunRounds(limits, [&] { return explaining.Round(); }));
  return explaining.Finish();
}

TextTable ExplanationTable(const std::vector<KernelTiming>& kernels, const ShownRoofline& ceilings,
                           size_t name_width) {
  TextTable table({{"group", Align::kRight},
                   {"kernel", Align::kLeft, "name"},
                   {"count", Align::kRight},
                   {"in model", Align::kRight, "in_model_ms"},
                   {"alone", Align::kRight, "alone_ms"},
                   {"tuner", Align::kRight, "tuner_ms"},
                   {"arithmetic"},
                   {"GFLOP/s", Align::kRight, "gflops_per_second"},
                   {"of peak", Align::kRight, "peak_share"},
                   {"GB/s", Align::kRight, "gbytes_per_second"},
                   {"roofline", Align::kRight},
                   {"bound by", Align::kLeft, "limit"}});
  for (const KernelTiming& timing : kernels) {
    const KernelReport& kernel = timing.kernel;
    const double each = timing.seconds / timing.count;
    table.AddRow({timing.group ? CountCell(*timing.group) : Missing(),
                  {Shorten(kernel.name, name_width), kernel.name},
                  CountCell(timing.count),
                  TimeCell(each),
                  TimeCell(timing.alone_seconds / timing.count),
                  TimeCell(kernel.recorded_seconds.value_or(0)),
                  kernel.arithmetic ? Cell(kernel.arithmetic->by->name) : Missing(),
                  RateCell(kernel.flops, each),
                  CeilingShare(timing, ceilings),
                  RateCell(kernel.bytes, each),
                  RooflineCell(timing),
                  timing.limit.empty() ? Missing() : timing.limit});
  }
  return table;
}

RooflinePicture PictureOf(const std::string& title, const std::vector<KernelTiming>& kernels,
                          const Roofline& roofline) {
  RooflinePicture picture{.title = title};
  for (const auto& [name, ceiling] : roofline.arithmetics)
    picture.peaks.push_back(
        {fmt::format("{} {}FLOP/s", name, QuantityText(ceiling.flops)), ceiling.flops});
  const auto add = [&](Ceiling level, double rate) {
    if (rate <= 0) return;
    picture.bandwidths.push_back({fmt::format("{} {}B/s", Name(level), QuantityText(rate)), rate});
  };
  for (size_t level = 0; level < roofline.caches.size(); ++level)
    add(static_cast<Ceiling>(level + 1), roofline.caches[level].bytes_per_second);
  add(Ceiling::kMemory, roofline.bytes_per_second);
  double total = 0;
  for (const KernelTiming& timing : kernels) total += timing.seconds;
  for (const KernelTiming& timing : kernels) {
    const KernelReport& kernel = timing.kernel;
    if (kernel.flops <= 0 || kernel.bytes <= 0 || timing.seconds <= 0) continue;
    picture.dots.push_back({.label = Shorten(kernel.name, kLongestLabel),
                            .intensity = kernel.flops / kernel.bytes,
                            .rate = kernel.flops * timing.count / timing.seconds,
                            .share = timing.seconds / total});
  }
  return picture;
}

std::string SumsText(const ExplainedRuns& runs) {
  const double model = runs.model.Median();
  std::string text = fmt::format("the model takes {}, its groups {} within it", DurationText(model),
                                 DurationText(Sum(runs.steps.in_model)));
  if (!runs.steps.alone.empty()) {
    text += fmt::format(" and {} alone: {:.2f} times those", DurationText(Sum(runs.steps.alone)),
                        model / Sum(runs.steps.alone));
  }
  return text + "\n";
}

nlohmann::ordered_json SumsJson(const ExplainedRuns& runs) {
  nlohmann::ordered_json json = {{"model_ms", 1e3 * runs.model.Median()},
                                 {"in_model_ms", 1e3 * Sum(runs.steps.in_model)},
                                 {"alone_ms", nullptr},
                                 {"model_over_alone", nullptr}};
  if (!runs.steps.alone.empty()) {
    json["alone_ms"] = 1e3 * Sum(runs.steps.alone);
    json["model_over_alone"] = runs.model.Median() / Sum(runs.steps.alone);
  }
  return json;
}

}  // namespace tunec
