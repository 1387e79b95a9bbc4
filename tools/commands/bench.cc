// `tunec bench MODEL` times the runs of a model.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "device/open_device.h"
#include "support/file.h"
#include "tools/commands/bench_bundle.h"
#include "tools/commands/commands.h"
#include "tools/draw/draw_roofline.h"
#include "tools/options/model_options.h"
#include "tools/options/number_checks.h"
#include "tools/runs/compare_outputs.h"
#include "tools/runs/explain_runs.h"
#include "tools/runs/model_inputs.h"
#include "tools/runs/open_bundle.h"
#include "tools/runs/run_timing.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/report_error.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

struct BenchArguments {
  CompileArguments compile;
  TimingLimits limits;
  std::string inputs;
  uint64_t input_seed = 0;
  bool profile = false;
  bool explain = false;
  std::string svg;
  bool unfused = false;
  bool json = false;
};

/// A compiled model and its measurements. Members that no option requests are empty or 0.
struct BenchResult {
  CompiledModel model;
  Timing timing;
  std::optional<CompiledModel> unfused;
  Timing unfused_timing;
  double unfused_error = 0;  // error of the outputs, relative to the unfused model's outputs
  std::vector<KernelTiming> kernels;
  ShownRoofline roofline;
  std::optional<Roofline> ceilings;  // set also if they are not reliable enough for shares
  std::optional<ExplainedRuns> explained;
};

// Finds the machine's ceilings, if possible, and times each kernel within runs of the model. With
// --explain on a CPU, the kernels are also timed alone.
Status MeasureKernels(const BenchArguments& arguments, const Session& session,
                      const std::vector<Array>& inputs, BenchResult& result) {
  const Executable& executable = *result.model.executable;
  const Result<Roofline> found = EnsureRoofline(session.database.get(), session.options.target,
                                                ArithmeticsOf(result.model.report));
  result.roofline = RooflineToShow(found);
  if (found) result.ceilings = *found;
  StepSeconds steps;
  if (arguments.explain) {
    TUNEC_ASSIGN(result.explained, ExplainRuns(executable, inputs, arguments.limits));
    steps = result.explained->steps;
  } else {
    TUNEC_ASSIGN(steps.in_model, TimeSteps(executable, inputs, arguments.limits));
  }
  result.kernels =
      GroupTimings(result.model.report, executable.StepNames(), steps, result.roofline);
  return {};
}

Result<BenchResult> Measure(const BenchArguments& arguments, const Session& session,
                            const std::vector<Array>& inputs) {
  BenchResult result;
  TUNEC_ASSIGN(result.model, Compile(session.graph, session.database.get(), session.options));
  const Executable& executable = *result.model.executable;
  std::vector<TimedRun> runs = {{&executable, inputs}};
  if (arguments.unfused) {
    CompileOptions options = session.options;
    options.fusion = FusionMode::kUnfused;
    options.trials = 0;  // the baseline is not tuned
    TUNEC_ASSIGN(result.unfused, Compile(session.graph, session.database.get(), options));
    runs.push_back({result.unfused->executable.get(), inputs});
    TUNEC_ASSIGN(const std::vector<Array> fused, RunModel(executable, inputs));
    TUNEC_ASSIGN(const std::vector<Array> plain, RunModel(*runs[1].executable, inputs));
    result.unfused_error = GreatestRelative(CompareOutputs(executable.Outputs(), fused, plain));
  }
  TUNEC_ASSIGN(std::vector<Timing> timings, TimeRuns(runs, arguments.limits));
  result.timing = std::move(timings[0]);
  if (arguments.unfused) result.unfused_timing = std::move(timings[1]);
  if (arguments.profile || arguments.explain || arguments.json || !arguments.svg.empty())
    TUNEC_RETURN_IF_ERROR(MeasureKernels(arguments, session, inputs, result));
  return result;
}

void PrintReport(const BenchArguments& arguments, const Session& session,
                 const BenchResult& result) {
  Json json = {{"model", arguments.compile.model},
               {"target", Print(session.options.target)},
               {"accuracy", Print(session.options.accuracy)},
               {"threads", result.model.executable->Threads()},
               {"launches", result.model.report.launches},
               {"phases", result.model.report.phases},
               {"latency", TimingJson(result.timing)}};
  if (result.unfused) {
    json["unfused"] = TimingJson(result.unfused_timing);
    json["unfused"]["launches"] = result.unfused->report.launches;
    json["unfused"]["phases"] = result.unfused->report.phases;
    json["unfused"]["max_relative_error"] = result.unfused_error;
  }
  json["kernels"] = TimingTable(result.kernels, SIZE_MAX).Json();
  if (result.explained) {
    json["sums"] = SumsJson(*result.explained);
    json["explained"] = ExplanationTable(result.kernels, result.roofline, SIZE_MAX).Json();
  }
  PrintJson(json);
}

void PrintKernels(const BenchArguments& arguments, const BenchResult& result) {
  if (arguments.profile) fmt::print("\n{}", PrintTimings(result.kernels, result.roofline));
  if (!result.explained) return;
  fmt::print("\n{}{}{}", ExplanationTable(result.kernels, result.roofline, NameWidth()).Print(),
             RooflineNotes(result.kernels, result.roofline), SumsText(*result.explained));
}

void PrintText(const BenchArguments& arguments, const BenchResult& result) {
  TextTable table({{""},
                   {"least", Align::kRight},
                   {"median", Align::kRight},
                   {"p95", Align::kRight},
                   {"p99", Align::kRight},
                   {"spread", Align::kRight},
                   {"runs", Align::kRight},
                   {"launches", Align::kRight}});
  const auto add = [&](const char* name, const Timing& timing, int launches) {
    table.AddRow({name, DurationText(timing.Least()), DurationText(timing.Median()),
                  DurationText(timing.P95()), DurationText(timing.P99()),
                  fmt::format("{:.1f} %", 100 * timing.Spread()),
                  fmt::format("{}", timing.samples.size()), fmt::format("{}", launches)});
  };
  add("compiled", result.timing, result.model.report.launches);
  if (result.unfused) add("unfused", result.unfused_timing, result.unfused->report.launches);
  fmt::print("{}", table.Print());
  if (result.unfused)
    fmt::print(
        "{:.2f} times as fast as unfused; outputs differ by {:.2g} of the largest magnitude\n",
        result.unfused_timing.Median() / result.timing.Median(), result.unfused_error);
  PrintKernels(arguments, result);
}

// Writes the drawing of --svg, if requested. If the ceilings are not reliable, the title of the
// drawing has the reason. A requested drawing without ceilings is an error.
Status WriteRoofline(const BenchArguments& arguments, const BenchResult& result) {
  if (arguments.svg.empty()) return {};
  const std::string& doubt = result.roofline.why_not;
  if (!result.ceilings) return Fail(ErrorCode::kDevice, "no roofline to draw: {}", doubt);
  const std::string title =
      arguments.compile.model + (doubt.empty() ? "" : fmt::format(" ({})", doubt));
  return WriteFileAtomically(arguments.svg,
                             DrawRoofline(PictureOf(title, result.kernels, *result.ceilings)));
}

// Prints a note if the spread of the times is large. If other work disturbs the runs, the least
// time is the most reliable.
void NoteSpread(const Timing& timing) {
  constexpr double kLarge = 0.2;
  if (timing.Spread() <= kLarge) return;
  PrintNote(
      fmt::format("the times spread by {:.0f} %, so other work shares the machine: compare "
                  "least times, or free cores (--threads below their number, taskset -c)",
                  100 * timing.Spread()));
}

// Prints a note if the target is emulated, because its times are meaningless.
void NoteEmulation(const Target& target) {
  if (const auto emulated = EmulatedTarget(target))
    PrintNote(
        fmt::format("these are times of the emulation on this machine's processor; they say "
                    "nothing of a {}",
                    emulated->device->name));
}

Result<int> Bench(const BenchArguments& arguments) {
  CatchInterrupts();
  if (IsBundleFile(arguments.compile.model))
    return BenchBundle({.model = arguments.compile,
                        .limits = arguments.limits,
                        .inputs = arguments.inputs,
                        .input_seed = arguments.input_seed,
                        .form = arguments.json ? OutputForm::kJson : OutputForm::kText});
  TUNEC_ASSIGN(const ArrayFile given, ReadArrays(arguments.inputs));
  TUNEC_ASSIGN(const Session session, OpenRunnable(arguments.compile, given.arrays));
  TUNEC_ASSIGN(const std::vector<Array> inputs,
               MakeInputs(session.graph, given, arguments.input_seed));
  TUNEC_ASSIGN(const BenchResult result, Measure(arguments, session, inputs));
  if (arguments.json) {
    PrintReport(arguments, session, result);
  } else {
    PrintText(arguments, result);
  }
  TUNEC_RETURN_IF_ERROR(WriteRoofline(arguments, result));
  NoteSpread(result.timing);
  NoteEmulation(session.options.target);
  if (result.unfused_error <= kOutputTolerance) return kExitOk;
  return Fail(ErrorCode::kWrongResult,
              "fused and unfused outputs differ by {:.3g} of the largest magnitude, allowed {:g}",
              result.unfused_error, kOutputTolerance);
}

}  // namespace

void AddBenchCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App& command =
      AddSubcommand(root, invocation, "bench", "time runs of a model", arguments, Bench);
  AddCompileArguments(command, arguments->compile);
  command.add_option("--warmup", arguments->limits.warmup, "untimed runs before (default 1)")
      ->type_name("N")
      ->check(HideDescription(CLI::Range(0, 1'000'000)));
  command.add_option("--runs", arguments->limits.runs, "at most so many (default 100)")
      ->type_name("N")
      ->check(HideDescription(CLI::Range(1, 1'000'000)));
  command.add_option("--seconds", arguments->limits.seconds, "at most so long (default 5)")
      ->type_name("S")
      ->check(Positive());
  CLI::Option* inputs =
      command.add_option("--inputs", arguments->inputs, "arrays by input name (default: random)")
          ->type_name("FILE.npz");
  command.add_option("--input-seed", arguments->input_seed, "of the random inputs (default 0)")
      ->type_name("N")
      ->excludes(inputs);
  command.add_flag("--profile", arguments->profile, "a table of the kernels");
  command.add_flag("--explain", arguments->explain,
                   "the kernels in the model, alone, and as tuned; what bounds them");
  command.add_option("--svg", arguments->svg, "draw the kernels under the machine's roofline")
      ->type_name("FILE.svg");
  command.add_flag("--unfused", arguments->unfused,
                   "compare with one kernel per operator, outputs checked");
  command.add_flag("--json", arguments->json, "print JSON, the kernels too");
}

}  // namespace tunec
