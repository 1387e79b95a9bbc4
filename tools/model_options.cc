#include "tools/model_options.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "graph/onnx/import.h"
#include "graph/rules/parse_rules.h"
#include "jit/detect_cpu.h"
#include "support/duration.h"
#include "tools/interrupt.h"
#include "tools/report_error.h"

namespace tunec {
namespace {

constexpr int kMostThreads = 1024;

}  // namespace

CLI::Validator Silently(const CLI::Validator& validator) { return validator.description(""); }

void AddModelArguments(CLI::App& command, ModelArguments& arguments) {
  command.add_option("MODEL", arguments.path, "an .onnx or .graph file")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--shape", arguments.shapes,
                  "the shape of an input whose dimensions the model leaves open: name=1x3x224x224")
      ->type_name("NAME=SHAPE")
      ->expected(1)
      ->take_all();
  command
      .add_option("--constant", arguments.constants,
                  "bind an input to the value in a file, name=file.npy; what shapes depend on has "
                  "to be known when compiling")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->take_all();
  command
      .add_option("--random-weights", arguments.random_weights,
                  "fill the weights of a .graph from this seed")
      ->type_name("SEED");
}

Result<Graph> ReadModel(const ModelArguments& arguments) {
  ModelOptions options;
  options.random_weights = arguments.random_weights;
  for (const std::string& text : arguments.shapes) {
    TUNEC_ASSIGN(auto shape, ParseShapeOption(text));
    if (!options.shapes.insert(std::move(shape)).second)
      return Fail(ErrorCode::kInvalidArgument, "--shape {}: the shape of this input is given twice",
                  text);
  }
  for (const std::string& text : arguments.constants) {
    const size_t equals = text.rfind('=');  // names of values may contain '='
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return Fail(ErrorCode::kInvalidArgument, "--constant {}: wanted name=file.npy", text);
    if (!options.constants.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      return Fail(ErrorCode::kInvalidArgument, "--constant {}: this input is bound twice", text);
  }
  return LoadModel(arguments.path, options);
}

void AddRewriteArguments(CLI::App& command, RewriteArguments& arguments) {
  command
      .add_option("--rules", arguments.rules,
                  "a file of graph rewrites, pattern => replacement; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
  command.add_flag("--fast-math", arguments.fast_math,
                   "allow rewrites that change results for NaN, infinities and signed zeros");
}

Result<std::shared_ptr<const RuleSet>> ReadRules(const RewriteArguments& arguments) {
  if (arguments.rules.empty()) return nullptr;
  TUNEC_ASSIGN(RuleSet rules, ReadRuleFiles(arguments.rules));
  return std::make_shared<const RuleSet>(std::move(rules));
}

void AddDatabaseArguments(CLI::App& command, DatabaseArguments& arguments) {
  CLI::Option* file =
      command
          .add_option("--db", arguments.path,
                      "the tuning database (default: tunec/tunec.db in the user's cache folder)")
          ->type_name("FILE");
  command.add_flag("--no-db", arguments.none, "neither read nor keep tuning results")
      ->excludes(file);
}

Result<std::string> DatabasePath(const DatabaseArguments& arguments) {
  if (!arguments.path.empty()) return arguments.path;
  return DefaultDatabasePath();
}

void AddCompileArguments(CLI::App& command, CompileArguments& arguments) {
  AddModelArguments(command, arguments.model);
  command.add_option("--target", arguments.target, "what to compile for: cpu")->type_name("NAME");
  command
      .add_option("--trials", arguments.trials,
                  "measured candidates for the whole model, recorded ones counted (default 0)")
      ->type_name("N")
      ->check(Silently(CLI::Range(int64_t{0}, int64_t{std::numeric_limits<int>::max()})));
  command
      .add_option("--time-limit", arguments.time_limit,
                  "ends tuning after 30s, 10m or 1h; without --trials the only limit")
      ->type_name("TIME");
  command
      .add_option("--retune", arguments.retune,
                  "go on with a group although it has converged, with --trials of its own: its "
                  "number, the name of a node, or all; may be repeated")
      ->type_name("GROUP")
      ->expected(1)
      ->take_all();
  command.add_flag("--verbose", arguments.verbose, "notes on schedules that are refused, too");
  AddDatabaseArguments(command, arguments.database);
  command.add_option("--threads", arguments.threads, "threads of a run (default: one per core)")
      ->type_name("N")
      ->check(Silently(CLI::Range(0, kMostThreads)));
  command
      .add_option("--accuracy", arguments.accuracy,
                  "exact, f32 (default), tf32, bf16, or a bound as a number")
      ->type_name("CONTRACT");
  command
      .add_option("--cpu", arguments.cpu,
                  "native (default) or an LLVM processor name, with ,-feature or ,+feature")
      ->type_name("NAME");
  command.add_option("--seed", arguments.seed, "of the search (default 0)")->type_name("N");
  command
      .add_option("--disable-pass", arguments.disabled_passes,
                  "leave out a graph pass; may be repeated")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  AddRewriteArguments(command, arguments.rewrites);
  command.add_flag("--naive", arguments.naive, "use only the naive schedules");
  command
      .add_option(
          "--failures", arguments.failure_folder,
          "write each failing candidate here as a case that tunec-worker --repeat runs again")
      ->type_name("FOLDER");
  command.add_flag("--perf-map", arguments.perf_map, "name the kernels for perf");
}

Result<CompileOptions> MakeCompileOptions(const CompileArguments& arguments) {
  if (arguments.target != "cpu")
    return Fail(ErrorCode::kInvalidArgument, "--target {}: unknown target, expected cpu",
                arguments.target);
  CompileOptions options;
  TUNEC_ASSIGN(options.target, ParseCpu(arguments.cpu, arguments.threads));
  TUNEC_ASSIGN(options.accuracy, ParseAccuracy(arguments.accuracy));
  options.trials = static_cast<int>(arguments.trials);
  if (!arguments.time_limit.empty()) {
    TUNEC_ASSIGN(options.time_limit_seconds, ParseDuration(arguments.time_limit));
  }
  options.retune = arguments.retune;
  options.seed = arguments.seed;
  options.disabled_passes = arguments.disabled_passes;
  TUNEC_ASSIGN(options.user_rules, ReadRules(arguments.rewrites));
  options.float_rules = arguments.rewrites.float_rules();
  options.sketches = arguments.naive ? SketchSet::kNaiveOnly : SketchSet::kAll;
  options.failure_folder = arguments.failure_folder;
  options.perf_map = arguments.perf_map ? PerfMap::kOn : PerfMap::kOff;
  options.cancelled = Interrupted;
  options.on_log = [](const std::string& line) { PrintToStandardError("note: " + line); };
  if (arguments.verbose) options.on_detail = options.on_log;
  return options;
}

namespace {

DatabaseChoice Choice(const DatabaseArguments& arguments) {
  if (arguments.none) return {.kind = DatabaseChoice::Kind::kNone, .path = ""};
  if (arguments.path.empty()) return {};
  return {.kind = DatabaseChoice::Kind::kFile, .path = arguments.path};
}

}  // namespace

Result<Session> OpenSession(const CompileArguments& arguments) {
  TUNEC_ASSIGN(CompileOptions options, MakeCompileOptions(arguments));
  TUNEC_ASSIGN(
      std::unique_ptr<Database> database,
      OpenChosenDatabase(Choice(arguments.database), options.Tunes() ? 1 : 0, options.on_log));
  TUNEC_ASSIGN(Graph graph, ReadModel(arguments.model));
  return Session{std::move(graph), std::move(options), std::move(database)};
}

namespace {

// Inputs are made and checked before anything is compiled: their sizes have to be known.
Status RequireFixedInputs(const Graph& graph) {
  for (const ValueId input : graph.inputs()) {
    const Value& value = graph.value(input);
    if (!value.type.IsFixed()) {
      return Fail(ErrorCode::kUnsupported,
                  "input {} of {} has a dimension that is not fixed, wanted numbers", value.name,
                  graph.name());
    }
  }
  return {};
}

}  // namespace

Result<Session> OpenRunnable(const CompileArguments& arguments) {
  TUNEC_ASSIGN(Session session, OpenSession(arguments));
  TUNEC_RETURN_IF_ERROR(RequireFixedInputs(session.graph));
  return session;
}

}  // namespace tunec
