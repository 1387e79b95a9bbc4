// `tunec MODEL` compiles a model, tunes the model if requested, and reports the results.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "autotune/keys.h"
#include "autotune/measure/timing_lock.h"
#include "compiler/report/report_json.h"
#include "compiler/sized/load_sized.h"
#include "device/open_device.h"
#include "tools/commands/commands.h"
#include "tools/options/model_options.h"
#include "tools/runs/model_inputs.h"
#include "tools/runs/prediction_table.h"
#include "tools/runs/run_timing.h"
#include "tools/runs/trial_events.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/text_table.h"
#include "tools/terminal/tuning_display.h"
#include "tools/terminal/usage_error.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

struct ModelCommand {
  CompileArguments compile;
  bool json = false;
  std::string events;  // file; empty: none
};

/// Returns the machine's ceilings. If tuning was requested, missing or unreliable ceilings are
/// measured. Otherwise only recorded ceilings are read, and a missing record is an error.
Result<Roofline> FindRoofline(const Session& session, const CompileReport& report) {
  if (session.options.Tunes()) {
    const Target& target = session.options.target;
    TimingLock lock(HostTimingLockPath(),
                    {.cancelled = session.options.cancelled, .most_seconds = 10});
    return EnsureRoofline(session.database.get(), target, ArithmeticsOf(report),
                          session.options.timing_lock ? &lock : nullptr);
  }
  if (session.database == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "the ceilings are read from the database only");
  TUNEC_ASSIGN(const auto recorded, RecordedRoofline(*session.database, session.options.target));
  if (!recorded) return Fail(ErrorCode::kNotFound, "never measured");
  return *recorded;
}

/// Reports the results of an interrupted tuning. Returns the exit code of an interruption.
int ReportInterruption(const TuningDisplay& display, OutputForm form) {
  const auto& latest = display.Latest();
  if (form == OutputForm::kText) fmt::print("{}", display.TaskTable());
  PrintToStandardError(fmt::format("interrupted: {} kept, run again to continue",
                                   CountText(latest ? latest->measured : 0, "new trial")));
  return kExitInterrupted;
}

void PrintSummary(const CompileReport& report, const CompileOptions& options) {
  fmt::print("{}, {} after the passes, {} ({} distinct), {} of {}\n",
             CountText(report.nodes_before, "node"), report.nodes_after,
             CountText(std::ssize(report.kernels), "kernel"), CountDistinctKernels(report),
             CountText(report.launches, "launch", "launches"), CountText(report.phases, "phase"));
  if (!options.Tunes()) fmt::print("{}\n", Describe(report.known));
  if (options.Tunes()) {
    const TuneProgress& tuning = report.tuning.progress;
    fmt::print("{}{}; stopped after {}: {}", CountText(tuning.measured, "new trial"),
               tuning.predicted ? " of predicted times" : "", BudgetText(tuning),
               DescribeStop(report.tuning));
    if (tuning.measured > 0 && tuning.predicted)
      fmt::print("; {:.0f} ms each (compile {:.0f}, check {:.0f})",
                 1e3 * tuning.elapsed_seconds / static_cast<double>(tuning.measured),
                 1e3 * tuning.compile_seconds / static_cast<double>(tuning.measured),
                 1e3 * tuning.check_seconds / static_cast<double>(tuning.measured));
    else if (tuning.measured > 0)
      fmt::print(
          "; {:.0f} ms each (compile {:.0f}, check {:.0f}, measure {:.0f}); finalists {:.1f} s",
          1e3 * (tuning.elapsed_seconds - tuning.compare_seconds) /
              static_cast<double>(tuning.measured),
          1e3 * tuning.compile_seconds / static_cast<double>(tuning.measured),
          1e3 * tuning.check_seconds / static_cast<double>(tuning.measured),
          1e3 * tuning.measure_seconds / static_cast<double>(tuning.measured),
          tuning.compare_seconds);
    fmt::print("\n");
  }
  fmt::print("{} compiled, {} reused; arena {}\n", CountText(report.objects_compiled, "object"),
             report.objects_reused, BytesText(static_cast<double>(report.arena_bytes)));
}

struct MeasuredRuns {
  Timing latency;
  std::vector<KernelTiming> kernels;
  ShownRoofline roofline;
};

/// Times a few runs of the model, as a whole and kernel by kernel.
Result<MeasuredRuns> MeasureRuns(const Graph& graph, const CompiledModel& model,
                                 ShownRoofline roofline) {
  const Executable& executable = *model.executable;
  TUNEC_ASSIGN(const std::vector<Array> inputs, RandomInputs(graph, 0));
  const TimingLimits limits{.runs = 20, .least_runs = 2, .seconds = 0.5};
  const TimedRun run{&executable, inputs};
  TUNEC_ASSIGN(std::vector<Timing> timings, TimeRuns({&run, 1}, limits));
  StepSeconds steps;
  TUNEC_ASSIGN(steps.in_model, TimeSteps(executable, inputs, limits));
  std::vector<KernelTiming> kernels =
      GroupTimings(model.report, executable.StepNames(), steps, roofline);
  return MeasuredRuns{std::move(timings[0]), std::move(kernels), std::move(roofline)};
}

/// Prints predicted times, or why there are none, for a device that this machine lacks or emulates.
void PrintPredictions(const CompileReport& report, const Accelerator& device,
                      std::string_view gpu) {
  constexpr size_t kNameWidth = 24;
  fmt::print("\n{}{}\n", PredictionTable(report, kNameWidth).Print(),
             DescribePrediction(report, device, gpu));
}

void PrintTimes(const MeasuredRuns& runs, int threads) {
  fmt::print("\n{}\n", PrintTimings(runs.kernels, runs.roofline));
  fmt::print("latency {} (median of {}, {})\n", DurationText(runs.latency.Median()),
             CountText(std::ssize(runs.latency.samples), "run"), CountText(threads, "thread"));
}

/// Returns the rows of `timings`, each extended by the entries of a kernel in `kernels` with the
/// same workload. Copies are not kernels, so their rows are not extended.
Json WithTimes(const Json& kernels, Json timings) {
  for (Json& row : timings) {
    for (const Json& kernel : kernels) {
      if (kernel["workload"] == row["workload"]) row.update(kernel);
    }
  }
  return timings;
}

/// Prints the JSON report. `runs` is empty if this machine cannot run the code or only emulates it.
void PrintModelJson(const ModelCommand& command, const CompiledModel& model,
                    const CompileOptions& options, double ready_seconds,
                    const std::optional<MeasuredRuns>& runs) {
  Json json = {{"model", command.compile.model}};
  json.update(ReportJson(model, options));
  json["ready_seconds"] = ready_seconds;
  if (runs) {
    json["latency"] = TimingJson(runs->latency);
    json["kernels"] = WithTimes(json["kernels"], TimingTable(runs->kernels, SIZE_MAX).Json());
  }
  PrintJson(json);
}

Result<CompiledModel> CompileShown(Session& session, TuningDisplay& display,
                                   const ModelCommand& command) {
  CompileOptions options = session.options;
  std::unique_ptr<TrialEvents> events;
  if (!command.events.empty()) {
    TUNEC_ASSIGN(events, TrialEvents::Open(command.events));
  }
  options.on_progress = [&](const TuneProgress& progress) {
    if (!command.json) display.Update(progress);
    if (events != nullptr) events->Note(progress);
  };
  options.on_log = [&, log = session.options.on_log](const std::string& line) {
    display.MakeRoom();
    log(line);
  };
  if (session.database != nullptr) session.database->ContinueWithoutFile(options.on_log);
  auto model = Compile(session.graph, session.database.get(), options);
  display.Finish();
  if (model && events != nullptr) TUNEC_RETURN_IF_ERROR(events->Finish());
  return model;
}

Result<int> RunCompile(const ModelCommand& command, double started) {
  CatchInterrupts();
  TUNEC_ASSIGN(Session session, OpenRunnable(command.compile));
  TuningDisplay display;
  const OutputForm form = command.json ? OutputForm::kJson : OutputForm::kText;
  const auto model = CompileShown(session, display, command);
  if (!model) {
    if (model.error().code == ErrorCode::kCancelled) return ReportInterruption(display, form);
    return std::unexpected(model.error());
  }
  const double ready = SecondsNow() - started;
  const Status here = CheckRunsHere(session.options.target, session.options.device);
  if (!here) session.options.on_log(here.error().message);
  // Times of an emulation are meaningless.
  const bool timed = here && !PredictsTimes(session.options.target);
  if (!command.json) {
    PrintSummary(model->report, session.options);
    if (!timed) {
      if (const auto& device = session.options.target.device)
        PrintPredictions(model->report, *device, command.compile.settings.gpu);
      return kExitOk;
    }
    fmt::print("ready to run after {}\n", DurationText(ready));
  }
  std::optional<MeasuredRuns> runs;
  if (timed) {
    TUNEC_ASSIGN(runs, MeasureRuns(session.graph, *model,
                                   RooflineToShow(FindRoofline(session, model->report))));
  }
  if (command.json) {
    PrintModelJson(command, *model, session.options, ready, runs);
  } else {
    PrintTimes(*runs, model->executable->Threads());
  }
  return kExitOk;
}

/// Returns the settings for each combination of the listed sizes, with one size per dimension.
std::vector<Settings> EachSize(const Settings& settings) {
  std::vector<Settings> all = {settings};
  for (const auto& [name, dim] : settings.dims) {
    if (!dim.same_as.empty()) continue;
    std::vector<Settings> finer;
    for (const Settings& one : all) {
      for (const int64_t size : dim.sizes) {
        finer.push_back(one);
        finer.back().dims[name] = {{size}};
      }
    }
    all = std::move(finer);
  }
  return all;
}

/// Runs the command for each combination of listed sizes, until one run fails. Rejects --json if
/// there are several sizes.
Result<int> RunEachSize(const ModelCommand& command, double started) {
  if (!HasSeveralSizes(command.compile.settings)) return RunCompile(command, started);
  for (const auto& [option, given] :
       {std::pair("--json", command.json), std::pair("--events", !command.events.empty())}) {
    if (given)
      return Fail(ErrorCode::kInvalidArgument, "{} is of one size: give each --dim one", option);
  }
  for (Settings& settings : EachSize(command.compile.settings)) {
    std::string sizes;
    for (const auto& [name, dim] : settings.dims)
      if (dim.same_as.empty())
        sizes += fmt::format("{}{}={}", sizes.empty() ? "" : " ", name, dim.sizes[0]);
    fmt::print("{}:\n", sizes);
    ModelCommand one = command;
    one.compile.settings = std::move(settings);
    TUNEC_ASSIGN(const int code, RunCompile(one, SecondsNow()));
    if (code != kExitOk) return code;
  }
  return kExitOk;
}

}  // namespace

void AddCompileCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<ModelCommand>();
  AddCompileArguments(root, arguments->compile);
  root.add_flag("--json", arguments->json, "print JSON");
  root.add_option("--events", arguments->events, "a file to write, with a JSON line for each trial")
      ->type_name("FILE");
  // Subcommands have separate options for the model.
  CLI::Option* model = root.get_option("MODEL");
  model->required(false);
  root.final_callback([&root, &invocation, arguments] {
    if (!root.get_subcommands().empty()) return;
    if (arguments->compile.model.empty()) throw CLI::RequiredError("MODEL or a subcommand");
    if (const auto mistake = ExplainMisspeltCommand(root, arguments->compile.model))
      throw CLI::ValidationError(*mistake);
    Finish(invocation, RunEachSize(*arguments, invocation.started));
  });
}

}  // namespace tunec
