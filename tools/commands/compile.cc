// `tunec MODEL`: compiles, tunes and reports.
#include <CLI/CLI.hpp>
#include <set>

#include "jit/detect_cpu.h"
#include "tools/commands/commands.h"
#include "tools/interrupt.h"
#include "tools/model_inputs.h"
#include "tools/model_options.h"
#include "tools/run_timing.h"
#include "tools/text_table.h"
#include "tools/tuning_display.h"
#include "tools/usage_error.h"

namespace tunec {
namespace {

/// Needed for the column of a report only, so its failure is a note. Measured only where tuning
/// was asked for, and has not done so already.
std::optional<Roofline> FindRoofline(const Session& session) {
  Result<Roofline> roofline = [&]() -> Result<Roofline> {
    if (session.options.Tunes())
      return EnsureRoofline(session.database.get(), session.options.target);
    if (session.database == nullptr) return Fail(ErrorCode::kNotFound, "no database");
    TUNEC_ASSIGN(const auto recorded, RecordedRoofline(*session.database, session.options.target));
    if (!recorded) return Fail(ErrorCode::kNotFound, "never measured");
    return *recorded;
  }();
  if (roofline) return *roofline;
  if (roofline.error().code != ErrorCode::kNotFound)
    session.options.on_log(fmt::format("no roofline: {}", roofline.error().message));
  return std::nullopt;
}

/// What an interrupted tuning leaves.
int ReportInterruption(const TuningDisplay& display) {
  const auto& latest = display.Latest();
  fmt::print("{}", display.TaskTable());
  PrintToStandardError(fmt::format("interrupted: {} kept, run again to continue",
                                   CountText(latest ? latest->measured : 0, "new trial")));
  return kExitInterrupted;
}

void PrintSummary(const CompileReport& report, const CompileOptions& options) {
  std::set<std::string> workloads;
  for (const KernelReport& kernel : report.kernels) workloads.insert(kernel.workload);
  fmt::print("{}, {} after the passes, {} ({} distinct), {} of {}\n",
             CountText(report.nodes_before, "node"), report.nodes_after,
             CountText(std::ssize(report.kernels), "kernel"), workloads.size(),
             CountText(report.launches, "launch", "launches"), CountText(report.phases, "phase"));
  if (!options.Tunes()) fmt::print("{}\n", Describe(report.known));
  if (options.Tunes()) {
    const TuneProgress& tuning = report.tuning.progress;
    fmt::print("{}; stopped after {}: {}", CountText(tuning.measured, "new trial"),
               BudgetText(tuning), DescribeStop(report.tuning));
    if (tuning.measured > 0)
      fmt::print("; {:.0f} ms each (compile {:.0f}, check {:.0f}, measure {:.0f})",
                 1e3 * tuning.elapsed_seconds / static_cast<double>(tuning.measured),
                 1e3 * tuning.compile_seconds / static_cast<double>(tuning.measured),
                 1e3 * tuning.check_seconds / static_cast<double>(tuning.measured),
                 1e3 * tuning.measure_seconds / static_cast<double>(tuning.measured));
    fmt::print("\n");
  }
  fmt::print("{} compiled, {} reused; arena {}\n", CountText(report.objects_compiled, "object"),
             report.objects_reused, BytesText(static_cast<double>(report.arena_bytes)));
}

/// Runs the model a few times for the table per group.
Status PrintTimes(const Graph& graph, const CompiledModel& model,
                  const std::optional<Roofline>& roofline) {
  const Executable& executable = *model.executable;
  TUNEC_ASSIGN(const std::vector<Array> inputs, RandomInputs(graph, 0));
  const TimingLimits limits{.runs = 20, .least_runs = 2, .seconds = 0.5};
  const TimedRun run{&executable, inputs};
  TUNEC_ASSIGN(const std::vector<Timing> timings, TimeRuns({&run, 1}, limits));
  TUNEC_ASSIGN(const std::vector<double> steps, TimeSteps(executable, inputs, limits));
  fmt::print("\n{}\n", PrintTimings(GroupTimings(model.report, executable.StepNames(), steps,
                                                 roofline ? &*roofline : nullptr)));
  fmt::print("latency {} (median of {} runs, {} threads)\n", DurationText(timings[0].Median()),
             timings[0].samples.size(), executable.Threads());
  return {};
}

Result<int> RunCompile(const CompileArguments& arguments, double started) {
  CatchInterrupts();
  TUNEC_ASSIGN(Session session, OpenRunnable(arguments));
  CompileOptions options = session.options;
  TuningDisplay display;
  options.on_progress = [&](const TuneProgress& progress) { display.Update(progress); };
  options.on_log = [&, log = session.options.on_log](const std::string& line) {
    display.MakeRoom();
    log(line);
  };
  if (session.database != nullptr) session.database->GoOnWithoutFile(options.on_log);
  const auto model = Compile(session.graph, session.database.get(), options);
  display.Finish();
  if (!model) {
    if (model.error().code == ErrorCode::kCancelled) return ReportInterruption(display);
    return std::unexpected(model.error());
  }
  PrintSummary(model->report, options);
  if (const Status runs = CheckRunsHere(options.target); !runs) {
    options.on_log(runs.error().message);
    return kExitOk;
  }
  fmt::print("ready to run after {}\n", DurationText(SecondsNow() - started));
  TUNEC_RETURN_IF_ERROR(PrintTimes(session.graph, *model, FindRoofline(session)));
  return kExitOk;
}

}  // namespace

void AddCompileCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<CompileArguments>();
  AddCompileArguments(root, *arguments);
  // Subcommands name the model themselves.
  CLI::Option* model = root.get_option("MODEL");
  model->required(false);
  root.final_callback([&root, &invocation, arguments] {
    if (!root.get_subcommands().empty()) return;
    if (arguments->model.empty()) throw CLI::RequiredError("MODEL or a subcommand");
    if (const auto mistake = ExplainMisspeltCommand(root, arguments->model))
      throw CLI::ValidationError(*mistake);
    Finish(invocation, RunCompile(*arguments, invocation.started));
  });
}

}  // namespace tunec
