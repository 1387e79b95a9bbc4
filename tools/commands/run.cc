// `tunec run MODEL`: one run, from arrays to arrays.
#include <CLI/CLI.hpp>

#include "runtime/npz.h"
#include "tools/commands/commands.h"
#include "tools/interrupt.h"
#include "tools/model_inputs.h"
#include "tools/model_options.h"

namespace tunec {
namespace {

struct RunArguments {
  CompileArguments compile;
  std::string inputs;
  std::string outputs;
  uint64_t input_seed = 0;
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

Result<int> Run(const RunArguments& arguments) {
  CatchInterrupts();
  TUNEC_ASSIGN(Session session, OpenRunnable(arguments.compile));
  TUNEC_ASSIGN(const std::vector<Array> inputs,
               MakeInputs(session.graph, arguments.inputs, arguments.input_seed));
  TUNEC_ASSIGN(const CompiledModel model,
               Compile(session.graph, session.database.get(), session.options));
  TUNEC_ASSIGN(const std::vector<Array> outputs, RunModel(*model.executable, inputs));
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
}

}  // namespace tunec
