// `tunec show MODEL`: the graph, its groups, their loops and their code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <set>

#include "autotune/tuner.h"
#include "compiler/front_end.h"
#include "graph/onnx/export.h"
#include "jit/compile.h"
#include "schedule/apply.h"
#include "support/file.h"
#include "tools/commands/commands.h"
#include "tools/commands/draw_graph.h"
#include "tools/commands/show_fusion.h"
#include "tools/commands/show_graph.h"
#include "tools/commands/show_structure.h"
#include "tools/dump_kernel.h"
#include "tools/model_options.h"
#include "tools/text_table.h"

namespace tunec {
namespace {

struct ShowArguments {
  CompileArguments compile;
  bool optimised = false;  // tables are of the graph after the passes
  bool groups = false;
  bool multiply_adds = false;
  bool dependencies = false, counts = false, residuals = false;  // of the graph
  bool fusion = false, candidates = false;
  std::string svg, dot;                                 // files
  std::string compute, nest, schedule, llvm, assembly;  // a group each
  std::string schedule_file;
  std::string onnx;
  std::string dump;  // a folder
};

/// A workload's own name is empty, so that equal groups have equal text; here one group is meant.
/// The name becomes part of symbols of the assembly.
std::string SymbolOf(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// One group with its schedule.
struct ScheduledGroup {
  const Compute* compute = nullptr;
  Schedule schedule;
  ScheduledKernel kernel;
};

class Shower {
 public:
  Shower(const ShowArguments& arguments, const Session& session, FrontReport front)
      : arguments_(arguments), session_(session), front_(std::move(front)) {}

  Status ShowCompute(const std::string& group) const;
  Status ShowNest(const std::string& group) const;
  Status ShowSchedule(const std::string& group) const;
  Status ShowLlvm(const std::string& group) const;
  Status ShowAssembly(const std::string& group) const;
  Status ShowMultiplyAdds() const;
  Status Dump() const;
  void ShowGroups() const { fmt::print("{}", PrintGroups(front_)); }
  void ShowFusion() const;
  Status Draw() const;

 private:
  Result<ScheduledGroup> ScheduleGroup(const GroupReport& group) const;
  Result<ScheduledGroup> ScheduleGroup(const std::string& name) const {
    TUNEC_ASSIGN(const size_t group, FindGroup(front_, name));
    return ScheduleGroup(front_.groups[group]);
  }

  const ShowArguments& arguments_;
  const Session& session_;
  FrontReport front_;
};

/// By --schedule-file, else the best known: what compiling would take.
Result<ScheduledGroup> Shower::ScheduleGroup(const GroupReport& group) const {
  const CompileOptions& options = session_.options;
  const TuningTask task{.kind = KindOfGroup(front_.graph, group.group),
                        .description = DescribeGroup(front_.graph, group.group),
                        .lowerings = group.lowerings,
                        .weight = 1};
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
  for (const NamedCompute& lowering : group.lowerings) {
    if (lowering.name == scheduled.schedule.lowering) scheduled.compute = &lowering.compute;
  }
  if (scheduled.compute == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "the group has no lowering '{}'",
                scheduled.schedule.lowering);
  TUNEC_ASSIGN(scheduled.kernel, ApplySchedule(*scheduled.compute, scheduled.schedule,
                                               ArithmeticFor(options.accuracy)));
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
               OriginalLoops(*scheduled.compute, ArithmeticFor(session_.options.accuracy)));
  before.name = scheduled.kernel.nest.name;
  fmt::print("# before scheduling\n{}\n# schedule\n{}\n# after scheduling\n{}", Print(before),
             Print(scheduled.schedule), Print(scheduled.kernel.nest));
  for (const LoopNest& prepack : scheduled.kernel.prepack)
    fmt::print("\n# packing, once\n{}", Print(prepack));
  return {};
}

Status Shower::ShowSchedule(const std::string& name) const {
  TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(name));
  fmt::print("{}", Print(scheduled.schedule));
  return {};
}

Status Shower::ShowLlvm(const std::string& name) const {
  TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(name));
  TUNEC_ASSIGN(const std::string text, EmitLlvmIr(scheduled.kernel.nest, session_.options.target));
  fmt::print("{}", text);
  return {};
}

Status Shower::ShowAssembly(const std::string& name) const {
  TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(name));
  TUNEC_ASSIGN(const std::string text,
               EmitAssembly(scheduled.kernel.nest, session_.options.target));
  fmt::print("{}", text);
  return {};
}

std::string ShareText(const MultiplyAdds& counted) {
  if (counted.total == 0) return "-";
  return fmt::format("{:.1f} %", 100 * counted.vector / counted.total);
}

Status Shower::ShowMultiplyAdds() const {
  TextTable table({{"group", Align::kRight},
                   {"computes"},
                   {"multiply-adds", Align::kRight},
                   {"vector", Align::kRight}});
  MultiplyAdds all;
  for (size_t g = 0; g < front_.groups.size(); ++g) {
    const GroupReport& group = front_.groups[g];
    TUNEC_ASSIGN(const ScheduledGroup scheduled, ScheduleGroup(group));
    const MultiplyAdds counted = CountMultiplyAdds(scheduled.kernel.nest);
    all.vector += counted.vector;
    all.total += counted.total;
    table.AddRow({fmt::format("{}", g), DescribeGroup(front_.graph, group.group),
                  fmt::format("{:.0f}", counted.total), ShareText(counted)});
  }
  table.AddRow({"all", "", fmt::format("{:.0f}", all.total), ShareText(all)});
  fmt::print("{}", table.Print());
  return {};
}

// Groups of equal statements are one kernel, under the number of the first.
Status Shower::Dump() const {
  std::set<std::string> seen;
  for (size_t g = 0; g < front_.groups.size(); ++g) {
    const GroupReport& group = front_.groups[g];
    const std::string statements = Print(group.lowerings[0].compute);
    if (!seen.insert(statements).second) continue;
    TUNEC_ASSIGN(ScheduledGroup scheduled, ScheduleGroup(group));
    KernelDump dump{.schedule = Print(scheduled.schedule), .nests = {scheduled.kernel.nest}};
    for (LoopNest& prepack : scheduled.kernel.prepack) dump.nests.push_back(std::move(prepack));
    TUNEC_RETURN_IF_ERROR(DumpKernel(arguments_.dump, DumpName(g, statements), std::move(dump),
                                     session_.options.target));
  }
  fmt::print("{} in {}\n", CountText(static_cast<int64_t>(seen.size()), "kernel"), arguments_.dump);
  return {};
}

void Shower::ShowFusion() const {
  if (arguments_.fusion) fmt::print("{}", PrintFusion(front_.graph, front_.fusion));
  if (arguments_.candidates) fmt::print("{}", PrintFusionCandidates(front_.graph, front_.fusion));
}

Status Shower::Draw() const {
  if ((arguments_.svg + arguments_.dot).empty()) return {};
  const std::string text = DrawDot(session_.graph, front_.graph, front_.fusion);
  if (arguments_.dot == "-") fmt::print("{}", text);
  if (!arguments_.dot.empty() && arguments_.dot != "-")
    TUNEC_RETURN_IF_ERROR(WriteFileAtomically(arguments_.dot, text));
  return arguments_.svg.empty() ? Status() : WriteSvg(text, arguments_.svg);
}

/// The tables of a graph that were asked for: the listing where none was.
void ShowGraph(const ShowArguments& arguments, const Graph& graph) {
  const bool listed = !arguments.dependencies && !arguments.counts && !arguments.residuals;
  if (listed) fmt::print("{}", PrintGraphTable(graph));
  if (arguments.dependencies) fmt::print("{}", PrintDependencies(graph));
  if (arguments.counts) fmt::print("{}", PrintOperatorCounts(graph));
  if (arguments.residuals) fmt::print("{}", PrintResiduals(graph));
}

/// Whether a table of the graph was asked for by name.
bool WantsGraph(const ShowArguments& arguments) {
  return arguments.optimised || arguments.dependencies || arguments.counts || arguments.residuals;
}

/// Whether anything was asked for that needs the front end.
bool WantsGroups(const ShowArguments& arguments) {
  const bool of_group = !(arguments.compute + arguments.nest + arguments.schedule + arguments.llvm +
                          arguments.assembly + arguments.dump)
                             .empty();
  return of_group || arguments.groups || arguments.multiply_adds || arguments.fusion ||
         arguments.candidates || !(arguments.svg + arguments.dot).empty();
}

Status ShowAll(const ShowArguments& arguments, const Session& session, FrontReport front) {
  const Shower shower(arguments, session, std::move(front));
  const auto show = [&](const std::string& group,
                        Status (Shower::*function)(const std::string&)
                            const) { return group.empty() ? Status() : (shower.*function)(group); };
  if (arguments.groups) shower.ShowGroups();
  shower.ShowFusion();
  TUNEC_RETURN_IF_ERROR(shower.Draw());
  TUNEC_RETURN_IF_ERROR(show(arguments.compute, &Shower::ShowCompute));
  TUNEC_RETURN_IF_ERROR(show(arguments.schedule, &Shower::ShowSchedule));
  TUNEC_RETURN_IF_ERROR(show(arguments.nest, &Shower::ShowNest));
  TUNEC_RETURN_IF_ERROR(show(arguments.llvm, &Shower::ShowLlvm));
  TUNEC_RETURN_IF_ERROR(show(arguments.assembly, &Shower::ShowAssembly));
  if (!arguments.dump.empty()) TUNEC_RETURN_IF_ERROR(shower.Dump());
  return arguments.multiply_adds ? shower.ShowMultiplyAdds() : Status();
}

Status WriteOnnx(const ShowArguments& arguments, const Session& session) {
  TUNEC_ASSIGN(const PipelineResult result, RunPipeline(session.graph, PassesOf(session.options)));
  return ExportOnnx(result.graph, arguments.onnx);
}

Result<int> Show(const ShowArguments& arguments) {
  TUNEC_ASSIGN(Session session, OpenSession(arguments.compile));
  if (!arguments.onnx.empty()) TUNEC_RETURN_IF_ERROR(WriteOnnx(arguments, session));
  const bool wants_groups = WantsGroups(arguments);
  const bool by_default = !wants_groups && arguments.onnx.empty();
  if (!arguments.optimised && (WantsGraph(arguments) || by_default))
    ShowGraph(arguments, session.graph);
  if (!wants_groups && !arguments.optimised) return kExitOk;
  TUNEC_ASSIGN(FrontReport front, RunFrontEnd(session.graph, session.options));
  if (arguments.optimised) ShowGraph(arguments, front.graph);
  TUNEC_RETURN_IF_ERROR(ShowAll(arguments, session, std::move(front)));
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
  add_group_option("--llvm", arguments->llvm, "a group's LLVM IR");
  add_group_option("--asm", arguments->assembly, "a group's assembly");
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
}

}  // namespace tunec
