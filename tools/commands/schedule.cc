// `tunec schedule FILE.compute` applies schedules, and shows, runs or times the resulting loops.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "autotune/best_schedule.h"
#include "autotune/measure/kernel_arithmetic.h"
#include "autotune/measure/measure.h"
#include "compiler/options/settings.h"
#include "kernel/compile_kernel.h"
#include "polyhedral/check_elements.h"
#include "polyhedral/explain/describe.h"
#include "support/file.h"
#include "tools/commands/commands.h"
#include "tools/draw/schedule_picture.h"
#include "tools/dump_kernel.h"
#include "tools/options/model_options.h"
#include "tools/options/setting_options.h"
#include "tools/runs/peaks.h"
#include "tools/schedule_steps.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

constexpr const char* kLowering = "direct";  // a .compute file has only this lowering
constexpr const char* kAutomatic = "automatic";

struct ScheduleArguments {
  std::string compute;
  std::vector<std::string> steps;
  Settings settings;  // threads, processor, accuracy, target
  uint64_t seed = 0;
  int rounds = 9;
  PictureArguments picture;
  std::string dump;  // a folder
  bool polyhedral = false;
  bool automatic = false;
  bool last = false;
  bool assembly = false;
  bool run = false;
  bool time = false;
  bool json = false;
};

struct Request {
  Compute compute;
  std::vector<SchedulePrefix> prefixes;
  Target target;
  Accuracy accuracy;
};

// Returns the schedule that tunec would use without trials. Prints the sketch, and why earlier
// sketches were rejected.
Result<Schedule> AutomaticSchedule(const Request& request) {
  const TunerOptions options{.target = request.target, .accuracy = request.accuracy};
  TUNEC_ASSIGN(const ChosenSchedule choice,
               ChooseSchedule(nullptr, {.lowerings = {{kLowering, request.compute}}}, options));
  for (const RejectedSchedule& rejected : choice.rejected) {
    PrintToStandardError(
        fmt::format("sketch {}: rejected: {}", rejected.sketch, rejected.error.message));
  }
  PrintToStandardError(fmt::format("sketch {}: used", choice.chosen.sketch));
  return choice.chosen.schedule;
}

Result<Schedule> ReadSchedule(const std::string& path) {
  TUNEC_ASSIGN(const std::string text, ReadFile(path));
  TUNEC_ASSIGN(Schedule schedule, ParseSchedule(text, path));
  schedule.lowering = kLowering;
  return schedule;
}

// Returns an entry without steps, followed by an entry for each step of a single schedule file. For
// several files or with --auto, an entry for each whole schedule follows instead.
Result<std::vector<SchedulePrefix>> ReadPrefixes(const Request& request,
                                                 const ScheduleArguments& arguments) {
  const Compute& compute = request.compute;
  const RoundingFreedom rounding = RoundingFreedomFor(request.accuracy);
  const std::vector<std::string>& files = arguments.steps;
  Schedule none{.lowering = kLowering};
  if (files.size() == 1 && !arguments.automatic) {
    TUNEC_ASSIGN(const Schedule schedule, ReadSchedule(files[0]));
    return SchedulePrefixes(compute, schedule, rounding);
  }
  TUNEC_ASSIGN(std::vector<SchedulePrefix> prefixes, SchedulePrefixes(compute, none, rounding));
  for (const std::string& file : files) {
    TUNEC_ASSIGN(const Schedule schedule, ReadSchedule(file));
    const std::string label = std::filesystem::path(file).stem();
    TUNEC_ASSIGN(SchedulePrefix prefix, WholeSchedule(compute, schedule, label, rounding));
    prefixes.push_back(std::move(prefix));
  }
  if (arguments.automatic) {
    TUNEC_ASSIGN(const Schedule schedule, AutomaticSchedule(request));
    TUNEC_ASSIGN(SchedulePrefix prefix, WholeSchedule(compute, schedule, kAutomatic, rounding));
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

Result<Request> ReadRequest(const ScheduleArguments& arguments) {
  Request request;
  request.accuracy = arguments.settings.accuracy;
  TUNEC_ASSIGN(request.target, TargetOf(arguments.settings));
  if (arguments.time && request.target.device) {
    return Fail(ErrorCode::kInvalidArgument,
                "--time is of loops on this machine's processor; what --dump writes for a GPU is "
                "timed by tunec-kernels");
  }
  TUNEC_ASSIGN(const std::string text, ReadFile(arguments.compute));
  TUNEC_ASSIGN(request.compute, ParseCompute(text, arguments.compute));
  TUNEC_RETURN_IF_ERROR(Verify(request.compute));
  TUNEC_RETURN_IF_ERROR(CheckElements(request.compute));
  TUNEC_ASSIGN(request.prefixes, ReadPrefixes(request, arguments));
  return request;
}

void PrintLoops(const SchedulePrefix& prefix, size_t number, const std::string& before) {
  fmt::print("# {}\n", prefix.label);
  if (const auto& rejection = prefix.kernel.rejection) {
    fmt::print("# not allowed so far: {}\n", rejection->message);
  }
  const std::string loops = Print(prefix.kernel.nest);
  if (number > 0 && loops == before) {
    fmt::print("# the loops are as before\n\n");
    return;
  }
  for (const LoopNest& nest : prefix.kernel.prepack) {
    fmt::print("# once, when the constants are known:\n{}", Print(nest));
  }
  fmt::print("{}\n", loops);
}

void PrintAll(const std::vector<SchedulePrefix>& prefixes, bool last_only) {
  std::string before;
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (!last_only || i + 1 == prefixes.size()) PrintLoops(prefixes[i], i, before);
    before = Print(prefixes[i].kernel.nest);
  }
}

// Returns the indices of the prefixes to run: the last prefix if it is legal, and if `all`, also
// legal prefixes whose loops differ from those of the previous legal prefix.
std::vector<size_t> WorthRunning(const std::vector<SchedulePrefix>& prefixes, bool all) {
  std::vector<size_t> chosen;
  std::string before;
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (prefixes[i].kernel.rejection) continue;
    const std::string loops = Print(prefixes[i].kernel.nest);
    const bool is_last = i + 1 == prefixes.size();
    if (is_last || (all && loops != before)) chosen.push_back(i);
    before = loops;
  }
  return chosen;
}

struct PrefixTiming {
  size_t prefix = 0;
  Measurement checked;
  std::vector<double> samples;  // seconds; runs alternate with those of the other prefixes
};

class Runner {
 public:
  Runner(const Request& request, const ScheduleArguments& arguments)
      : request_(request), arguments_(arguments), pool_(request.target.host.threads) {}

  Result<std::vector<PrefixTiming>> Run() {
    const std::vector<SchedulePrefix>& prefixes = request_.prefixes;
    Workload workload{.lowerings = {{kLowering, request_.compute}},
                      .target = request_.target,
                      .accuracy = request_.accuracy,
                      .seed = arguments_.seed};
    TUNEC_ASSIGN(Workbench bench, Workbench::Make(std::move(workload), pool_));
    std::vector<PrefixTiming> ran;
    for (const size_t i : WorthRunning(prefixes, arguments_.time)) {
      const CandidateRequest candidate{Print(prefixes[i].schedule)};
      ran.push_back({i, bench.Measure(bench.Compile(candidate), std::nullopt, Once()), {}});
    }
    if (arguments_.time) Time(bench, ran);
    return ran;
  }

 private:
  // Runs that take longer than these seconds are timed only once.
  static constexpr double kLongRun = 0.5;
  static TimingPolicy Once() {
    return {.budget_seconds = 0, .least_samples = 1, .most_samples = 1};
  }

  void Time(Workbench& bench, std::vector<PrefixTiming>& ran) {
    std::vector<CompiledCandidate> candidates;
    std::vector<PrefixTiming*> timed;
    for (PrefixTiming& one : ran) {
      if (one.checked.status != TrialStatus::kOk) continue;
      one.samples = one.checked.samples;
      if (Median(one.samples) > kLongRun) continue;
      candidates.push_back(bench.Compile({Print(request_.prefixes[one.prefix].schedule)}));
      timed.push_back(&one);
    }
    const auto again = bench.Compare(std::move(candidates), {.rounds = arguments_.rounds});
    for (size_t i = 0; i < timed.size(); ++i) timed[i]->samples = again[i].samples;
  }

  const Request& request_;
  const ScheduleArguments& arguments_;
  ThreadPool pool_;
};

std::string Checked(const Measurement& checked) {
  if (checked.status != TrialStatus::kOk) {
    return fmt::format("{}: {}", TrialStatusName(checked.status), checked.message);
  }
  return checked.accuracy_error ? fmt::format("ok, e = {:.2g}", *checked.accuracy_error) : "ok";
}

Cell TimeCell(double seconds) { return {DurationText(seconds), 1e3 * seconds}; }

TextTable TimeTable(const Request& request, const std::vector<PrefixTiming>& ran,
                    const Peaks& peaks) {
  const double flops = CountWork(request.compute).flops;
  TextTable table({{"after"},
                   {"schedule", Align::kLeft, "", ColumnVisibility::kInJson},
                   {"result"},
                   {"ok", Align::kLeft, "", ColumnVisibility::kInJson},
                   {"arithmetic", Align::kLeft, "", ColumnVisibility::kInJson},
                   {"median", Align::kRight, "median_ms"},
                   {"least", Align::kRight, "min_ms"},
                   {"most", Align::kRight, "max_ms"},
                   {"FLOP/s", Align::kRight, "flops_per_second"},
                   {"% of peak", Align::kRight, "peak_share"}});
  for (const PrefixTiming& one : ran) {
    const SchedulePrefix& prefix = request.prefixes[one.prefix];
    const auto arithmetic = ArithmeticOf(request.compute, prefix.schedule, request.target);
    std::vector<Cell> row = {prefix.label,
                             {"", Print(prefix.schedule)},
                             Checked(one.checked),
                             {"", one.checked.status == TrialStatus::kOk},
                             arithmetic ? Cell(arithmetic->by->name) : Missing()};
    if (!one.samples.empty()) {
      const double median = Median(one.samples), rate = flops / median;
      row.push_back(TimeCell(median));
      row.push_back(TimeCell(std::ranges::min(one.samples)));
      row.push_back(TimeCell(std::ranges::max(one.samples)));
      row.emplace_back(QuantityText(rate), rate);
      const double peak = peaks.For(arithmetic);
      if (peak > 0) row.emplace_back(fmt::format("{:.1f}", 100 * rate / peak), rate / peak);
    }
    row.resize(10, {"", nullptr});
    table.AddRow(std::move(row));
  }
  return table;
}

void PrintTimes(const Request& request, const TextTable& table, const Peaks& peaks,
                OutputForm form) {
  if (form == OutputForm::kJson) {
    PrintJson({{"cpu", request.target.host.cpu},
               {"threads", request.target.host.threads},
               {"peak_flops", peaks.Of(Float32Fma())},
               {"schedules", table.Json()}});
    return;
  }
  fmt::print("{} of {}; {}\n{}", CountText(request.target.host.threads, "thread"),
             request.target.host.cpu, peaks.Text(), table.Print());
}

Result<int> RunAndReport(const Request& request, const ScheduleArguments& arguments) {
  // With --time, peaks are measured before and after the kernels; the maximum counts.
  Peaks peaks(request.target);
  for (const SchedulePrefix& prefix : request.prefixes) {
    peaks.Add(ArithmeticOf(request.compute, prefix.schedule, request.target));
  }
  if (arguments.time) TUNEC_RETURN_IF_ERROR(peaks.Measure());
  TUNEC_ASSIGN(const std::vector<PrefixTiming> ran, Runner(request, arguments).Run());
  if (arguments.time) {
    TUNEC_RETURN_IF_ERROR(peaks.Measure());
    PrintTimes(request, TimeTable(request, ran, peaks), peaks,
               arguments.json ? OutputForm::kJson : OutputForm::kText);
  } else {
    for (const PrefixTiming& one : ran) fmt::print("result: {}\n", Checked(one.checked));
  }
  const bool right = std::ranges::all_of(
      ran, [](const PrefixTiming& one) { return one.checked.status == TrialStatus::kOk; });
  return right ? kExitOk : kExitFailure;
}

// Prints the last schedule as sets and relations, and draws the schedule, each only if requested.
// The schedule may be illegal.
Status ShowPolyhedral(const Request& request, const ScheduleArguments& arguments) {
  const ReductionOrder order = ReductionOrderFor(request.accuracy);
  TUNEC_ASSIGN(const ScheduledTrees trees,
               DraftSchedule(request.compute, request.prefixes.back().schedule, order));
  const ScheduledTree& draft = trees.kernel;
  if (arguments.polyhedral) {
    TUNEC_ASSIGN(const std::string text, Describe(draft.dependences, draft.tree));
    fmt::print("{}", text);
  }
  return arguments.picture.svg.empty() ? Status() : DrawSchedule(draft, arguments.picture, order);
}

Status Dump(const Request& request, const std::string& folder) {
  const SchedulePrefix& last = request.prefixes.back();
  KernelDump dump{.schedule = Print(last.schedule), .nests = {last.kernel.nest}};
  const std::vector<LoopNest>& prepack = last.kernel.prepack;
  dump.nests.insert(dump.nests.end(), prepack.begin(), prepack.end());
  return DumpKernel(folder, DumpName(0, Print(request.compute)), std::move(dump), request.target);
}

Result<int> ShowSchedule(const ScheduleArguments& arguments) {
  TUNEC_ASSIGN(const Request request, ReadRequest(arguments));
  const std::vector<SchedulePrefix>& prefixes = request.prefixes;
  const bool polyhedral = arguments.polyhedral || !arguments.picture.svg.empty();
  if (arguments.automatic && !arguments.json) fmt::print("{}", Print(prefixes.back().schedule));
  const bool loops =
      !(arguments.time || polyhedral || arguments.automatic || !arguments.dump.empty());
  if (arguments.last || loops) PrintAll(prefixes, arguments.last);
  if (polyhedral) TUNEC_RETURN_IF_ERROR(ShowPolyhedral(request, arguments));
  std::fflush(stdout);
  if (const auto& rejection = prefixes.back().kernel.rejection) {
    return Fail(ErrorCode::kInvalidArgument, "the schedule is not allowed: {}", rejection->message);
  }
  if (!arguments.dump.empty()) TUNEC_RETURN_IF_ERROR(Dump(request, arguments.dump));
  if (arguments.assembly) {
    TUNEC_ASSIGN(const std::string text,
                 EmitText(prefixes.back().kernel.nest, request.target, CodeText::kAssembly));
    fmt::print("{}", text);
  }
  if (!arguments.run && !arguments.time) return kExitOk;
  return RunAndReport(request, arguments);
}

}  // namespace

void AddScheduleCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<ScheduleArguments>();
  CLI::App& command =
      AddSubcommand(root, invocation, "schedule",
                    "loops by hand: what each step of a schedule makes of a computation", arguments,
                    ShowSchedule);
  command.add_option("FILE", arguments->compute, "a .compute text")
      ->required()
      ->check(HideDescription(CLI::ExistingFile));
  command
      .add_option("--steps", arguments->steps,
                  "a schedule; of several, each as a whole (default: none)")
      ->type_name("FILE.sched")
      ->expected(1)
      ->take_all()
      ->check(HideDescription(CLI::ExistingFile));
  command.add_flag("--polyhedral", arguments->polyhedral,
                   "iteration domains, accesses, order after the last step, and dependences");
  AddPictureOptions(command, arguments->picture);
  command.add_flag(
      "--auto", arguments->automatic,
      "print the schedule that tunec begins with, and compare it with those of --steps");
  command.add_flag("--last", arguments->last, "show the loops after the last step only");
  command
      .add_option("--dump", arguments->dump,
                  "write the schedule, loops and object code after the last step")
      ->type_name("FOLDER");
  command.add_flag("--assembly", arguments->assembly, "show the machine code after the last step");
  command.add_flag("--run", arguments->run,
                   "run the last loops on random arguments and check the results");
  CLI::Option* time =
      command.add_flag("--time", arguments->time,
                       "run, check and time the loops after each step that is allowed, in turns");
  CLI::Option* json = command.add_flag("--json", arguments->json, "the times as JSON")->needs(time);
  for (const char* text : {"--polyhedral", "--last", "--assembly"})
    json->excludes(command.get_option(text));
  command.add_option("--rounds", arguments->rounds, "samples of each (default 9)")
      ->type_name("N")
      ->check(HideDescription(CLI::Range(1, 1000)));
  AddSettings(command, arguments->settings,
              {"threads", "cpu", "accuracy", "target", "arch", "gpu", "emulate"});
  command.add_option("--seed", arguments->seed, "of the arguments (default 0)")->type_name("N");
}

}  // namespace tunec
