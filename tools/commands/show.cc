// `tunec show MODEL` prints the requested views of a model: the graph, groups, loops or code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <set>

#include "autotune/best_schedule.h"
#include "compiler/front_end.h"
#include "compiler/tuning/tasks.h"
#include "graph/onnx/export/export.h"
#include "kernel/compile_kernel.h"
#include "schedule/apply.h"
#include "support/file.h"
#include "tools/commands/commands.h"
#include "tools/draw/draw_graph.h"
#include "tools/dump_kernel.h"
#include "tools/options/model_options.h"
#include "tools/show/show_fusion.h"
#include "tools/show/show_graph.h"
#include "tools/show/show_stages.h"
#include "tools/show/show_structure.h"
#include "tools/terminal/text_table.h"
#include "tools/terminal/visible_text.h"

namespace tunec {
namespace {

/// The name that selects all groups for --ptx and --sass. Equal groups are shown once.
constexpr const char* kAllGroups = "all";

struct ShowArguments {
  CompileArguments compile;
  bool optimised = false;  // tables show the graph after the passes
  bool groups = false;
  bool json = false;  // tables as JSON
  bool multiply_adds = false;
  bool dependencies = false, counts = false, residuals = false;  // tables of the graph
  bool fusion = false, candidates = false;
  std::string svg, dot;                                 // files
  std::string compute, nest, schedule, llvm, assembly;  // one group each
  std::string ptx, sass;                                // one group, or all
  std::string after;                                    // stage of the loop pipeline
  std::string schedule_file;
  std::string onnx;
  std::string dump;  // a folder
};

/// Returns a symbol for assembly: the name with '_' in place of all but letters and digits.
std::string SymbolOf(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// The Compute of a group's lowering, a schedule, and the resulting loops.
struct ScheduledGroup {
  const Compute* compute = nullptr;
  Schedule schedule;
  KernelLoops kernel;
};

class Shower {
 public:
  Shower(const ShowArguments& arguments, const Session& session, FrontReport front)
      : arguments_(arguments), session_(session), front_(std::move(front)) {}

  Status ShowCompute(const std::string& group) const;
  Status ShowNest(const std::string& group) const;
  /// Shows one group, or all groups if `group` is empty.
  Status ShowAfter(const std::string& stage, const std::string& group) const;
  Status ShowSchedule(const std::string& group) const;
  Status ShowLlvm(const std::string& group) const;
  Status ShowAssembly(const std::string& group) const;
  /// Shows GPU code of one group, or of all distinct groups if `group` is kAllGroups.
  Status ShowPtx(const std::string& group) const;
  Status ShowSass(const std::string& group) const;
  Status AddTables(TableReport& report) const;
  Status Dump() const;
  Status Draw() const;

 private:
  Result<TextTable> MultiplyAddTable() const;
  /// Returns the indices of distinct groups. Of equal groups, only the first is included.
  std::vector<size_t> DistinctGroups() const;
  Status ShowGpuCode(const std::string& group, CodeText text) const;
  Result<ScheduledGroup> ScheduleGroup(const GroupReport& group) const;
  Result<ScheduledGroup> ScheduleGroup(const std::string& name) const {
    TUNEC_ASSIGN(const size_t group, FindGroup(front_, name));
    return ScheduleGroup(front_.groups[group]);
  }

  const ShowArguments& arguments_;
  const Session& session_;
  FrontReport front_;
};

/// Schedules a group by --schedule-file, or else by the best known schedule, which a compilation
/// without trials would use. Returns the Compute of the schedule's lowering, the schedule and the
/// loops. The loop nest has the group's name, which is not part of the workload.
Result<ScheduledGroup> Shower::ScheduleGroup(const GroupReport& group) const {
  const CompileOptions& options = session_.options;
  const ModelTasks tasks = CollectTasks(front_, options.target);
  const auto number = static_cast<size_t>(&group - front_.groups.data());
  const TuningTask& task = tasks.unique[tasks.of_group[number]];
  ScheduledGroup scheduled;
  if (!arguments_.schedule_file.empty()) {
    TUNEC_ASSIGN(const std::string text, ReadFile(arguments_.schedule_file));
    TUNEC_ASSIGN(scheduled.schedule, ParseSchedule(text, arguments_.schedule_file));
  } else {
    const TunerOptions tuner{.seed = options.seed,
                             .target = options.target,
                             .accuracy = options.accuracy,
                             .sketches = options.sketches};
    TUNEC_ASSIGN(scheduled.schedule, BestSchedule(session_.database.get(), task, tuner));
  }
  scheduled.compute = FindLowering(group.lowerings, scheduled.schedule.lowering);
  if (scheduled.compute == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "the group has no lowering '{}'",
                scheduled.schedule.lowering);
  TUNEC_ASSIGN(scheduled.kernel,
               RunLoopPipeline(*scheduled.compute, scheduled.schedule,
                               {.rounding = RoundingFreedomFor(options.accuracy)}));
  scheduled.kernel.nest.name = SymbolOf(NameOfGroup(front_.graph, group.group));
  return scheduled;
}

Status Shower::ShowCompute(const std::string& name) const {
  TUNEC_ASSIGN(const size_t group, FindGroup(front_, name));
  for (const NamedCompute& lowering : front_.groups[group].lowerings)
    fmt::print("# lowering {}\n{}", lowering.name, Print(lowering.compute));
  return {};
}

Status Shower::ShowNest(const std::string& name) const {
  TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(name));
  TUNEC_ASSIGN(LoopNest before,
               OriginalLoops(*scheduled.compute, RoundingFreedomFor(session_.options.accuracy)));
  before.name = scheduled.kernel.nest.name;
  fmt::print("# before scheduling\n{}\n# schedule\n{}\n# after scheduling\n{}", Print(before),
             Print(scheduled.schedule), Print(scheduled.kernel.nest));
  for (const LoopNest& prepack : scheduled.kernel.prepack)
    fmt::print("\n# packing, once\n{}", Print(prepack));
  return {};
}

Status Shower::ShowAfter(const std::string& stage, const std::string& name) const {
  const CompileOptions& options = session_.options;
  TUNEC_RETURN_IF_ERROR(CheckLoopStage(stage, options.target));
  std::vector<const GroupReport*> shown;
  for (const GroupReport& group : front_.groups) shown.push_back(&group);
  if (!name.empty()) {
    TUNEC_ASSIGN(const size_t group, FindGroup(front_, name));
    shown = {&front_.groups[group]};
  }
  for (const GroupReport* group : shown) {
    TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(*group));
    Compute compute = *scheduled.compute;
    compute.name = scheduled.kernel.nest.name;
    TUNEC_ASSIGN(const std::string text,
                 TextAfterStage(compute, scheduled.schedule,
                                {.target = options.target,
                                 .loops = {.rounding = RoundingFreedomFor(options.accuracy)}},
                                stage));
    fmt::print("{}", VisibleText(text));
  }
  return {};
}

Status Shower::ShowSchedule(const std::string& name) const {
  TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(name));
  fmt::print("{}", Print(scheduled.schedule));
  return {};
}

Status Shower::ShowLlvm(const std::string& name) const {
  TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(name));
  TUNEC_ASSIGN(const std::string text,
               EmitText(scheduled.kernel.nest, session_.options.target, CodeText::kLlvmIr));
  fmt::print("{}", VisibleText(text));
  return {};
}

Status Shower::ShowAssembly(const std::string& name) const {
  TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(name));
  TUNEC_ASSIGN(const std::string text,
               EmitText(scheduled.kernel.nest, session_.options.target, CodeText::kAssembly));
  fmt::print("{}", VisibleText(text));
  return {};
}

std::vector<size_t> Shower::DistinctGroups() const {
  std::vector<size_t> distinct;
  std::set<std::string> seen;
  for (size_t g = 0; g < front_.groups.size(); ++g) {
    if (seen.insert(Print(front_.groups[g].lowerings[0].compute)).second) distinct.push_back(g);
  }
  return distinct;
}

Status Shower::ShowGpuCode(const std::string& name, CodeText text) const {
  const bool all = name == kAllGroups;
  std::vector<size_t> shown;
  if (all) {
    shown = DistinctGroups();
  } else {
    TUNEC_ASSIGN(const size_t group, FindGroup(front_, name));
    shown = {group};
  }
  for (const size_t group : shown) {
    TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(front_.groups[group]));
    TUNEC_ASSIGN(const std::string code,
                 EmitText(scheduled.kernel.nest, session_.options.target, text));
    if (all) fmt::print("// group {}\n", group);
    fmt::print("{}", code);
  }
  return {};
}

Status Shower::ShowPtx(const std::string& group) const {
  return ShowGpuCode(group, CodeText::kAssembly);
}

Status Shower::ShowSass(const std::string& group) const {
  return ShowGpuCode(group, CodeText::kMachineCode);
}

Cell ShareCell(const MultiplyAdds& counted) {
  if (counted.total == 0) return Missing();
  const double share = counted.vector / counted.total;
  return {fmt::format("{:.1f} %", 100 * share), share};
}

Cell TotalCell(const MultiplyAdds& counted) {
  return {fmt::format("{:.0f}", counted.total), counted.total};
}

Result<TextTable> Shower::MultiplyAddTable() const {
  TextTable table({{"group", Align::kRight},
                   {"computes"},
                   {"multiply-adds", Align::kRight, "multiply_adds"},
                   {"vector", Align::kRight, "vector_share"}});
  MultiplyAdds all;
  for (size_t g = 0; g < front_.groups.size(); ++g) {
    const GroupReport& group = front_.groups[g];
    TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(group));
    const MultiplyAdds counted = CountMultiplyAdds(scheduled.kernel.nest);
    all.vector += counted.vector;
    all.total += counted.total;
    table.AddRow({CountCell(static_cast<int64_t>(g)), DescribeGroup(front_.graph, group.group),
                  TotalCell(counted), ShareCell(counted)});
  }
  table.AddRow({{"all", nullptr}, "", TotalCell(all), ShareCell(all)});
  return table;
}

// Writes the kernels and prints their number. Groups with equal statements are one kernel with the
// index of the first group.
Status Shower::Dump() const {
  const std::vector<size_t> distinct = DistinctGroups();
  for (const size_t g : distinct) {
    const GroupReport& group = front_.groups[g];
    TUNEC_ASSIGN(ScheduledGroup scheduled, ScheduleGroup(group));
    KernelDump dump{.schedule = Print(scheduled.schedule), .nests = {scheduled.kernel.nest}};
    for (LoopNest& prepack : scheduled.kernel.prepack) dump.nests.push_back(std::move(prepack));
    TUNEC_RETURN_IF_ERROR(DumpKernel(arguments_.dump,
                                     DumpName(g, Print(group.lowerings[0].compute)),
                                     std::move(dump), session_.options.target));
  }
  fmt::print("{} in {}\n", CountText(std::ssize(distinct), "kernel"), arguments_.dump);
  return {};
}

Status Shower::AddTables(TableReport& report) const {
  if (arguments_.groups) report.Add("groups", GroupTable(front_));
  if (arguments_.fusion) AddFusion(report, front_.graph, front_.fusion);
  if (arguments_.candidates) AddFusionCandidates(report, front_.graph, front_.fusion);
  if (arguments_.multiply_adds) {
    TUNEC_ASSIGN(const TextTable table, MultiplyAddTable());
    report.Add("multiply_adds", table);
  }
  return {};
}

Status Shower::Draw() const {
  if ((arguments_.svg + arguments_.dot).empty()) return {};
  const std::string text = DrawDot(session_.graph, front_.graph, front_.fusion);
  if (arguments_.dot == "-") fmt::print("{}", VisibleText(text));
  if (!arguments_.dot.empty() && arguments_.dot != "-")
    TUNEC_RETURN_IF_ERROR(WriteFileAtomically(arguments_.dot, text));
  return arguments_.svg.empty() ? Status() : WriteSvg(text, arguments_.svg);
}

/// Adds the requested tables of a graph, or the list of nodes if no table was requested.
void AddGraphTables(const ShowArguments& arguments, const Graph& graph, TableReport& report) {
  const bool listed = !arguments.dependencies && !arguments.counts && !arguments.residuals;
  const std::string sums = "\n" + CountsByKind(graph);
  if (listed) report.Add("nodes", NodeTable(graph), sums + ConditionsText(graph));
  if (arguments.dependencies) report.Add("dependencies", DependencyTable(graph));
  if (arguments.counts) report.Add("counts", OperatorCountTable(graph), sums);
  if (!arguments.residuals) return;
  const std::vector<Residual> residuals = FindResiduals(graph);
  const TextTable table = ResidualTable(graph, residuals);
  const std::string count = CountText(std::ssize(residuals), "residual connection") + "\n";
  report.AddText("residuals", table, residuals.empty() ? count : table.Print() + "\n" + count);
}

/// Returns whether a table of the graph was requested.
bool RequestsGraph(const ShowArguments& arguments) {
  return arguments.optimised || arguments.dependencies || arguments.counts || arguments.residuals;
}

/// Returns whether the request needs the fusion groups.
bool NeedsGroups(const ShowArguments& arguments) {
  const bool of_group =
      !(arguments.compute + arguments.nest + arguments.schedule + arguments.llvm +
        arguments.assembly + arguments.ptx + arguments.sass + arguments.after + arguments.dump)
           .empty();
  return of_group || arguments.groups || arguments.multiply_adds || arguments.fusion ||
         arguments.candidates || !(arguments.svg + arguments.dot).empty();
}

Status ShowGroups(const ShowArguments& arguments, const Session& session, FrontReport front,
                  TableReport& report) {
  const Shower shower(arguments, session, std::move(front));
  const auto show = [&](const std::string& group,
                        Status (Shower::*function)(const std::string&)
                            const) { return group.empty() ? Status() : (shower.*function)(group); };
  TUNEC_RETURN_IF_ERROR(shower.AddTables(report));
  TUNEC_RETURN_IF_ERROR(shower.Draw());
  TUNEC_RETURN_IF_ERROR(show(arguments.compute, &Shower::ShowCompute));
  TUNEC_RETURN_IF_ERROR(show(arguments.schedule, &Shower::ShowSchedule));
  if (!arguments.after.empty()) {
    TUNEC_RETURN_IF_ERROR(shower.ShowAfter(arguments.after, arguments.nest));
  } else {
    TUNEC_RETURN_IF_ERROR(show(arguments.nest, &Shower::ShowNest));
  }
  TUNEC_RETURN_IF_ERROR(show(arguments.llvm, &Shower::ShowLlvm));
  TUNEC_RETURN_IF_ERROR(show(arguments.assembly, &Shower::ShowAssembly));
  TUNEC_RETURN_IF_ERROR(show(arguments.ptx, &Shower::ShowPtx));
  TUNEC_RETURN_IF_ERROR(show(arguments.sass, &Shower::ShowSass));
  return arguments.dump.empty() ? Status() : shower.Dump();
}

Status WriteOnnx(const ShowArguments& arguments, const Session& session) {
  TUNEC_ASSIGN(const PipelineResult result, RunPipeline(session.graph, PassesOf(session.options)));
  return ExportOnnx(result.graph, arguments.onnx);
}

/// Returns kInvalidArgument if GPU code is requested and the target has no GPU.
Status CheckGpuCode(const ShowArguments& arguments, const Target& target) {
  if ((arguments.ptx + arguments.sass).empty() || target.device) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} is for the target cuda; a processor's code is --asm",
              arguments.ptx.empty() ? "--sass" : "--ptx");
}

Result<int> Show(const ShowArguments& arguments) {
  const bool needs_groups = NeedsGroups(arguments);
  const bool by_default = !needs_groups && arguments.onnx.empty();
  CompileArguments compile = arguments.compile;
  if (arguments.onnx.empty()) {
    const bool needs_numbers = needs_groups || arguments.optimised;
    compile.settings.open_sizes = needs_numbers ? OpenSizes::kDefault : OpenSizes::kNamed;
  }
  TUNEC_ASSIGN(Session session, OpenSession(compile));
  TUNEC_RETURN_IF_ERROR(CheckGpuCode(arguments, session.options.target));
  if (!arguments.onnx.empty()) TUNEC_RETURN_IF_ERROR(WriteOnnx(arguments, session));
  TableReport report(arguments.json ? OutputForm::kJson : OutputForm::kText);
  if (!arguments.optimised && (RequestsGraph(arguments) || by_default))
    AddGraphTables(arguments, session.graph, report);
  if (needs_groups || arguments.optimised) {
    TUNEC_ASSIGN(FrontReport front, RunFrontEnd(session.graph, session.options));
    if (arguments.optimised) AddGraphTables(arguments, front.graph, report);
    TUNEC_RETURN_IF_ERROR(ShowGroups(arguments, session, std::move(front), report));
  }
  report.Finish();
  return kExitOk;
}

}  // namespace

void AddShowCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<ShowArguments>();
  CLI::App& command = AddSubcommand(
      root, invocation, "show", "print a model's graph, groups, loops or code", arguments, Show);
  AddCompileArguments(command, arguments->compile);
  const auto add_group_option = [&](const char* name, std::string& group, const char* help) {
    command.add_option(name, group, help)->type_name("GROUP");
  };
  command.add_flag("--optimised", arguments->optimised, "the graph after the passes");
  command.add_flag("--dependencies", arguments->dependencies,
                   "what each node depends on, and what uses it");
  command.add_flag("--counts", arguments->counts, "how many nodes of each kind and operator");
  command.add_flag("--residuals", arguments->residuals, "residual (skip) connections");
  command.add_flag("--fusion", arguments->fusion,
                   "why each group is one group, and why it ends where it does");
  command.add_flag("--fusion-candidates", arguments->candidates,
                   "each value between two nodes, and whether they were fused");
  command
      .add_option("--svg", arguments->svg,
                  "draw the graph before and after the passes, coloured by group (needs Graphviz)")
      ->type_name("FILE");
  command.add_option("--dot", arguments->dot, "the same as text for Graphviz; -: print it")
      ->type_name("FILE");
  command.add_flag("--groups", arguments->groups, "the fusion groups");
  add_group_option("--compute", arguments->compute, "the statements of a group's lowerings");
  add_group_option("--schedule", arguments->schedule, "the best known schedule of a group");
  add_group_option("--nest", arguments->nest, "a group's loops before and after scheduling");
  command
      .add_option("--after", arguments->after,
                  "the loops as one stage of their pipeline leaves them, of the group of --nest, "
                  "else of all: " +
                      LoopStageNames())
      ->type_name("STAGE");
  add_group_option("--llvm", arguments->llvm, "a group's LLVM IR");
  add_group_option("--asm", arguments->assembly, "a group's assembly");
  const auto add_gpu_option = [&](const char* name, std::string& group, const char* help) {
    command.add_option(name, group, help)
        ->type_name("[GROUP]")
        ->expected(0, 1)
        ->default_str(kAllGroups);
  };
  add_gpu_option("--ptx", arguments->ptx, "with cuda: the PTX of a group, or of all");
  add_gpu_option("--sass", arguments->sass,
                 "with cuda: the machine code of a group, or of all, as nvdisasm reads it");
  command
      .add_option("--schedule-file", arguments->schedule_file,
                  "the schedule to apply instead of the best known")
      ->type_name("FILE");
  command
      .add_option("--dump", arguments->dump,
                  "write the schedule, loops and object code of all groups")
      ->type_name("FOLDER");
  command.add_option("--onnx", arguments->onnx, "write the graph after the passes as ONNX")
      ->type_name("FILE");
  command.add_flag("--multiply-adds", arguments->multiply_adds,
                   "how many multiply-adds are vector operations");
  CLI::Option* json = command.add_flag("--json", arguments->json, "print the tables as JSON");
  for (const char* text : {"--dot", "--compute", "--schedule", "--nest", "--after", "--llvm",
                           "--asm", "--ptx", "--sass", "--dump"})
    json->excludes(command.get_option(text));
}

}  // namespace tunec
