// `tunec run MODEL`: one run, from arrays to arrays.
#include <CLI/CLI.hpp>

#include "runtime/npz.h"
#include "tools/commands/commands.h"
#include "tools/interrupt.h"
#include "tools/model_inputs.h"
#include "tools/model_options.h"
#include "tools/outside_indices.h"
#include "tools/peak_memory.h"

namespace tunec {
namespace {

struct RunArguments {
  CompileArguments compile;
  std::string inputs;
  std::string outputs;
  uint64_t input_seed = 0;
  bool unfused = false;
  bool memory = false;
};

/// Enough to see whether an output is what was expected.
std::string Summarize(const Array& array) {
  constexpr int64_t kShown = 6;
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

/// The first run of a model, which touches all that it needs.
Result<std::vector<Array>> RunMeasured(const Executable& executable,
                                       const std::vector<Array>& inputs) {
  TUNEC_ASSIGN(const PeakMemory peak, PeakMemory::Start());
  TUNEC_ASSIGN(std::vector<Array> outputs, RunModel(executable, inputs));
  TUNEC_ASSIGN(const int64_t growth, peak.Growth());
  fmt::print("memory touched by the run: {} bytes\n", growth);
  return outputs;
}

Result<int> Run(const RunArguments& arguments) {
  CatchInterrupts();
  TUNEC_ASSIGN(const ArrayFile given, ReadArrays(arguments.inputs));
  TUNEC_ASSIGN(Session session, OpenRunnable(arguments.compile, given.arrays));
  if (arguments.unfused) session.options.fusion = FusionMode::kUnfused;
  TUNEC_ASSIGN(const std::vector<Array> inputs,
               MakeInputs(session.graph, given, arguments.input_seed));
  TUNEC_ASSIGN(const CompiledModel model,
               Compile(session.graph, session.database.get(), session.options));
  TUNEC_ASSIGN(const std::vector<Array> outputs, arguments.memory
                                                     ? RunMeasured(*model.executable, inputs)
                                                     : RunModel(*model.executable, inputs));
  NoteOutsideIndices(*model.executable);
  const std::vector<TensorSpec>& specs = model.executable->Outputs();
  if (!arguments.outputs.empty())
    TUNEC_RETURN_IF_ERROR(WriteOutputs(arguments.outputs, specs, outputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    fmt::print("{} {}:{}\n", specs[i].name, FormatType(specs[i]), Summarize(outputs[i]));
  return kExitOk;
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
}

}  // namespace tunec
