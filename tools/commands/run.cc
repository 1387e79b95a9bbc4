// `tunec run MODEL` runs a model once, with arrays from a file or random inputs.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "compiler/sized/sized_model.h"
#include "numpy/npz.h"
#include "tools/commands/commands.h"
#include "tools/options/model_options.h"
#include "tools/runs/model_inputs.h"
#include "tools/runs/open_bundle.h"
#include "tools/runs/outside_indices.h"
#include "tools/runs/peak_memory.h"
#include "tools/runs/sized_runs.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/text_table.h"
#include "tools/terminal/visible_text.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

struct RunArguments {
  CompileArguments compile;
  std::string inputs;
  std::string outputs;
  uint64_t input_seed = 0;
  bool unfused = false;
  bool memory = false;
  bool json = false;
};

/// The outputs of a run, and the memory that the run touched.
struct RunResult {
  std::vector<Array> outputs;
  std::optional<int64_t> memory_bytes;  // touched by the run, if requested
};

constexpr int64_t kShown = 6;  // number of elements shown, to recognize an output

std::string Summarize(const Array& array) {
  std::string text;
  for (int64_t i = 0; i < std::min(array.size(), kShown); ++i)
    text += IsFloat(array.type()) ? fmt::format(" {:.6g}", array.GetDouble(i))
                                  : fmt::format(" {}", array.GetInt(i));
  return array.size() > kShown ? text + " ..." : text;
}

Status WriteOutputs(const std::string& path, const std::vector<TensorSpec>& specs,
                    const std::vector<Array>& outputs) {
  std::vector<NamedArrayView> views;
  for (size_t i = 0; i < outputs.size(); ++i) views.push_back({specs[i], outputs[i].data()});
  return WriteNpz(path, views);
}

/// Runs a model, and measures how much memory the run touches. Requires: the model has not run,
/// because a later run reuses memory of the first.
Result<RunResult> RunMeasured(const Executable& executable, const std::vector<Array>& inputs) {
  RunResult result;
  TUNEC_ASSIGN(const PeakMemory peak, PeakMemory::Start());
  TUNEC_ASSIGN(result.outputs, RunModel(executable, inputs));
  TUNEC_ASSIGN(result.memory_bytes, peak.Growth());
  return result;
}

Result<RunResult> RunOnce(const Executable& executable, const std::vector<Array>& inputs,
                          bool measured) {
  if (measured) return RunMeasured(executable, inputs);
  RunResult result;
  TUNEC_ASSIGN(result.outputs, RunModel(executable, inputs));
  return result;
}

/// Returns at most kShown elements, from the first on. Numbers that JSON cannot express, such as
/// infinity, are printed as null.
Json FirstElements(const Array& array) {
  Json first = Json::array();
  for (int64_t i = 0; i < std::min(array.size(), kShown); ++i)
    first.push_back(IsFloat(array.type()) ? Json(array.GetDouble(i)) : Json(array.GetInt(i)));
  return first;
}

void PrintRunJson(const RunArguments& arguments, const std::vector<TensorSpec>& specs,
                  const RunResult& result) {
  Json json = {{"model", arguments.compile.model}, {"outputs", Json::array()}};
  for (size_t i = 0; i < specs.size(); ++i)
    json["outputs"].push_back({{"name", specs[i].name},
                               {"type", Name(specs[i].type)},
                               {"shape", specs[i].shape},
                               {"first", FirstElements(result.outputs[i])}});
  if (result.memory_bytes) json["memory_bytes"] = *result.memory_bytes;
  PrintJson(json);
}

void PrintRun(const std::vector<TensorSpec>& specs, const RunResult& result) {
  if (result.memory_bytes)
    fmt::print("memory touched by the run: {} bytes\n", *result.memory_bytes);
  for (size_t i = 0; i < specs.size(); ++i)
    fmt::print("{} {}:{}\n", VisibleText(specs[i].name), FormatType(specs[i]),
               Summarize(result.outputs[i]));
}

/// A model that can run, and its inputs.
struct ReadyModel {
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const SizedExecutable> sized;  // set instead of `executable`
  std::vector<Array> inputs;
};

Result<int> PrintResult(const RunArguments& arguments, const std::vector<TensorSpec>& specs,
                        const RunResult& result) {
  if (!arguments.outputs.empty())
    TUNEC_RETURN_IF_ERROR(WriteOutputs(arguments.outputs, specs, result.outputs));
  if (arguments.json) {
    PrintRunJson(arguments, specs, result);
  } else {
    PrintRun(specs, result);
  }
  return kExitOk;
}

Result<int> RunSized(const RunArguments& arguments, const ReadyModel& model) {
  TUNEC_ASSIGN(SizedRun run, SizedRun::Make(*model.sized, model.inputs));
  RunResult result;
  if (arguments.memory) {
    TUNEC_ASSIGN(const PeakMemory peak, PeakMemory::Start());
    TUNEC_RETURN_IF_ERROR(run.Run());
    TUNEC_ASSIGN(result.memory_bytes, peak.Growth());
  } else {
    TUNEC_RETURN_IF_ERROR(run.Run());
  }
  result.outputs = std::move(run.buffers.outputs);
  return PrintResult(arguments, run.results, result);
}

Result<ReadyModel> MakeReady(const RunArguments& arguments) {
  ReadyModel ready;
  TUNEC_ASSIGN(const ArrayFile given, ReadArrays(arguments.inputs));
  if (IsBundleFile(arguments.compile.model)) {
    TUNEC_ASSIGN(const LoadedBundle bundle, OpenBundle(arguments.compile));
    ready.executable = bundle.executable;
    ready.sized = bundle.sized;
    if (ready.sized) {
      TUNEC_ASSIGN(ready.inputs, SizedInputs(*ready.sized, given, arguments.input_seed,
                                             arguments.compile.settings.dims));
      return ready;
    }
    TUNEC_ASSIGN(ready.inputs, BundleInputs(*ready.executable, given, arguments.input_seed));
    return ready;
  }
  if (HasSeveralSizes(arguments.compile.settings)) {
    TUNEC_ASSIGN(SizedSession session, OpenSizedSession(arguments.compile));
    if (arguments.unfused) session.options.fusion = FusionMode::kUnfused;
    SizedOptions options{.listed = session.listed, .compile = session.options};
    TUNEC_ASSIGN(ready.sized, SizedModel::Make(std::move(session.source), std::move(options),
                                               std::move(session.database)));
    TUNEC_ASSIGN(ready.inputs, SizedInputs(*ready.sized, given, arguments.input_seed, {}));
    return ready;
  }
  TUNEC_ASSIGN(Session session, OpenRunnable(arguments.compile, given.arrays));
  if (arguments.unfused) session.options.fusion = FusionMode::kUnfused;
  TUNEC_ASSIGN(ready.inputs, MakeInputs(session.graph, given, arguments.input_seed));
  TUNEC_ASSIGN(const CompiledModel model,
               Compile(session.graph, session.database.get(), session.options));
  ready.executable = model.executable;
  return ready;
}

Result<int> Run(const RunArguments& arguments) {
  CatchInterrupts();
  TUNEC_ASSIGN(const ReadyModel model, MakeReady(arguments));
  if (model.sized) return RunSized(arguments, model);
  TUNEC_ASSIGN(const RunResult result, RunOnce(*model.executable, model.inputs, arguments.memory));
  NoteOutsideIndices(*model.executable);
  return PrintResult(arguments, model.executable->Outputs(), result);
}

}  // namespace

void AddRunCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App& command = AddSubcommand(root, invocation, "run", "run a model once", arguments, Run);
  AddCompileArguments(command, arguments->compile);
  CLI::Option* inputs =
      command.add_option("--inputs", arguments->inputs, "arrays by input name (default: random)")
          ->type_name("FILE.npz");
  command.add_option("--outputs", arguments->outputs, "where to write the outputs")
      ->type_name("FILE.npz");
  command.add_option("--input-seed", arguments->input_seed, "of random inputs (default 0)")
      ->type_name("N")
      ->excludes(inputs);
  command.add_flag("--unfused", arguments->unfused, "with one kernel per operator");
  command.add_flag("--memory", arguments->memory,
                   "say how much memory the run touches beside weights and inputs");
  command.add_flag("--json", arguments->json, "print JSON");
}

}  // namespace tunec
