// `tunec opt MODEL` reads a graph, runs passes, and prints or writes the result.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "compiler/options/settings.h"
#include "graph/onnx/export/export.h"
#include "graph/passes/pipeline.h"
#include "graph/text/graph_text.h"
#include "tools/commands/commands.h"
#include "tools/commands/opt_count.h"
#include "tools/options/model_options.h"
#include "tools/options/setting_options.h"
#include "tools/terminal/text_table.h"
#include "tools/terminal/visible_text.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

struct OptArguments {
  std::string model;
  Settings settings;
  std::vector<std::string> passes;
  std::string output;
  std::string onnx;
  bool changes = false;
  bool list = false;
  bool count = false;
  bool json = false;
};

int ListPasses(OutputForm form) {
  if (form == OutputForm::kJson) {
    Json passes = Json::array();
    for (const NamedPass& pass : AllPasses())
      passes.push_back({{"name", pass.name}, {"summary", pass.summary}});
    PrintJson({{"passes", std::move(passes)}, {"in_order", DefaultPipeline()}});
    return kExitOk;
  }
  for (const NamedPass& pass : AllPasses()) fmt::print("{:22} {}\n", pass.name, pass.summary);
  fmt::print("\nin order: {}\n", fmt::join(DefaultPipeline(), ","));
  return kExitOk;
}

Result<PipelineResult> CountPasses(const OptArguments& arguments, const Graph& graph,
                                   const PipelineOptions& pipeline) {
  CountArguments count{.json = arguments.json, .compile = {}};
  TUNEC_ASSIGN(count.compile.target, TargetOf(arguments.settings));
  return PrintCounts(graph, pipeline, count);
}

// Sets callbacks that print the changes, the applied rules, the rules that need --fast-math, and
// the reasons for unchanged nodes. Several passes find the last two, so each is printed once.
void ShowChanges(PipelineOptions& options) {
  const auto shown = std::make_shared<std::set<std::string>>();
  const auto show_once = [shown](const std::string& line) {
    if (shown->insert(line).second) fmt::print("# {}\n", VisibleText(line));
  };
  options.pass.on_rule = [](const Rule& rule, const Node& node) {
    fmt::print("# rule {} at {}\n", rule.name, VisibleText(node.name));
  };
  options.pass.on_held_back = [show_once](const Rule& rule, const Node& node) {
    show_once(fmt::format("would apply with --fast-math: rule {} at {}", rule.name, node.name));
  };
  options.pass.on_unchanged = [show_once](const Node& node, const std::string& reason) {
    show_once(fmt::format("kept {}: {}", node.name, reason));
  };
  options.on_change = [](const PassRecord& record, const Graph&, const Graph& after) {
    fmt::print("# {}: {} -> {} nodes\n{}\n", record.name, record.nodes_before, record.nodes_after,
               Print(after));
  };
}

Result<int> Optimise(const OptArguments& arguments) {
  if (arguments.list) return ListPasses(arguments.json ? OutputForm::kJson : OutputForm::kText);
  if (arguments.json && !arguments.count)
    return Fail(ErrorCode::kInvalidArgument, "--json needs --count or --list");
  if (arguments.model.empty())
    return Fail(ErrorCode::kInvalidArgument, "MODEL is missing, expected an .onnx or .graph file");
  PipelineOptions options;
  if (!arguments.passes.empty()) options.names = arguments.passes;
  const std::vector<std::string>& disabled = arguments.settings.disabled_passes;
  options.disabled.insert(disabled.begin(), disabled.end());
  options.pass.rules = arguments.settings.float_rules();
  TUNEC_ASSIGN(options.pass.user_rules, ReadRules(arguments.settings.rules));
  if (arguments.changes) ShowChanges(options);
  TUNEC_ASSIGN(const Graph graph, LoadModel(arguments.model, arguments.settings));
  TUNEC_ASSIGN(const PipelineResult result, arguments.count ? CountPasses(arguments, graph, options)
                                                            : RunPipeline(graph, options));
  if (!arguments.output.empty())
    TUNEC_RETURN_IF_ERROR(WriteGraphFile(result.graph, arguments.output));
  if (!arguments.onnx.empty()) TUNEC_RETURN_IF_ERROR(ExportOnnx(result.graph, arguments.onnx));
  const bool shown = arguments.count || !arguments.output.empty() || !arguments.onnx.empty();
  if (!shown) fmt::print("{}{}", arguments.changes ? "# result\n" : "", Print(result.graph));
  return kExitOk;
}

}  // namespace

void AddOptCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<OptArguments>();
  CLI::App& command =
      AddSubcommand(root, invocation, "opt", "run graph passes", arguments, Optimise);
  AddModel(command, arguments->model).required(false);
  AddSettings(command, arguments->settings,
              {"shapes", "dims", "constants", "random_weights", "external_data"});
  command.add_option("--passes", arguments->passes, "these, in this order (default: all)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  command
      .add_option("-o,--output", arguments->output,
                  "a .graph to write, its weights beside it (default: print the text)")
      ->type_name("FILE");
  command.add_option("--onnx", arguments->onnx, "an .onnx to write")->type_name("FILE");
  AddSettings(command, arguments->settings, {"disable_pass", "rules", "fast_math"});
  command.add_flag(
      "--changes", arguments->changes,
      "the rules that fire, what stays unfolded and why, the graph after each pass that changed "
      "it");
  command.add_flag("--list", arguments->list, "name the passes");
  command.add_flag("--count", arguments->count,
                   "nodes and bytes moved after each pass; groups, phases and peak memory");
  command.add_flag("--json", arguments->json, "print the counts or the passes as JSON");
  // These settings select the target for which --count counts phases.
  AddSettings(command, arguments->settings, {"cpu", "threads"});
}

}  // namespace tunec
