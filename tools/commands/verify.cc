// `tunec verify MODEL` checks the outputs of a model, or graph passes on a model.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "graph/onnx/file/tensor_file.h"
#include "graph/passes/pipeline.h"
#include "graph/reference.h"
#include "tools/commands/commands.h"
#include "tools/commands/verify_passes.h"
#include "tools/options/model_options.h"
#include "tools/options/number_checks.h"
#include "tools/runs/compare_outputs.h"
#include "tools/runs/contract_tolerance.h"
#include "tools/runs/hard_inputs.h"
#include "tools/runs/model_inputs.h"
#include "tools/runs/outside_indices.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

struct VerifyArguments {
  CompileArguments compile;
  std::string inputs;
  std::string expected;
  std::string test_data;
  uint64_t input_seed = 0;
  std::optional<double> tolerance;  // empty: computed from types and accuracy mode
  bool skip_reference = false;
  std::vector<std::string> passes;
  bool pipeline = false;
  int random_inputs = 4;
  bool json = false;
};

/// The inputs of a run, and the expected outputs if known.
struct Case {
  std::vector<Array> inputs;
  std::optional<std::vector<Array>> expected;
};

/// Reads PREFIX_0.pb, PREFIX_1.pb, ... from one of ONNX's test_data_set folders. Fails if a type or
/// shape is not that of the spec.
Result<std::vector<Array>> ReadTestData(const std::string& folder, std::string_view prefix,
                                        const std::vector<TensorSpec>& specs) {
  std::vector<Array> arrays;
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::string path = fmt::format("{}/{}_{}.pb", folder, prefix, i);
    TUNEC_ASSIGN(Array array, ReadOnnxTensor(path));
    const TensorSpec found{specs[i].name, array.type(), array.shape()};
    if (found != specs[i])
      return Fail(ErrorCode::kInvalidArgument, "{} is {}, expected {} for '{}'", path,
                  FormatType(found), FormatType(specs[i]), specs[i].name);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

/// Reads the file of --inputs, or else that of --expected. Without both, returns no arrays.
Result<ArrayFile> ReadGiven(const VerifyArguments& arguments) {
  return ReadArrays(arguments.inputs.empty() ? arguments.expected : arguments.inputs);
}

Result<Case> ReadCase(const VerifyArguments& arguments, const Graph& graph,
                      const ArrayFile& given) {
  Case found;
  if (!arguments.test_data.empty()) {
    TUNEC_ASSIGN(found.inputs, ReadTestData(arguments.test_data, "input", InputSpecs(graph)));
    TUNEC_ASSIGN(found.expected, ReadTestData(arguments.test_data, "output", OutputSpecs(graph)));
    return found;
  }
  TUNEC_ASSIGN(found.inputs, MakeInputs(graph, given, arguments.input_seed));
  if (!arguments.expected.empty()) {
    TUNEC_ASSIGN(const std::vector<NamedArray> arrays, ReadNpz(arguments.expected));
    TUNEC_ASSIGN(found.expected,
                 SelectArrays(arrays, OutputSpecs(graph), arguments.expected, FloatTypes::kAny));
  }
  return found;
}

void AddError(TextTable& table, const std::string& against, std::string_view inputs,
              const HardOutput& output) {
  const OutputError& error = output.error;
  table.AddRow({error.name,
                against,
                std::string(inputs),
                {fmt::format("{:.3g}", error.absolute), error.absolute},
                {fmt::format("{:.3g}", error.magnitude), error.magnitude},
                {fmt::format("{:.3g}", error.Relative()), error.Relative()},
                {fmt::format("{:.3g}", output.threshold), output.threshold},
                output.IsRight() ? "ok" : "wrong"});
}

OutputForm FormOf(const VerifyArguments& arguments) {
  return arguments.json ? OutputForm::kJson : OutputForm::kText;
}

/// The kinds of random inputs on which passes are verified. Inputs with infinities are excluded,
/// because a pass may turn an infinity into NaN.
constexpr InputKind kPassKinds[] = {InputKind::kUniform, InputKind::kLargeMean, InputKind::kWide,
                                    InputKind::kTies};

bool HasFloatInput(const Graph& graph) {
  return std::ranges::any_of(graph.inputs(),
                             [&](ValueId input) { return IsFloat(graph.value(input).type.type); });
}

/// Verifies passes on the given inputs, if any, and on `random_inputs` sets of random inputs.
Result<int> VerifyGraphPasses(const VerifyArguments& arguments) {
  TUNEC_ASSIGN(const ArrayFile arrays, ReadGiven(arguments));
  TUNEC_ASSIGN(const Session session, OpenRunnable(arguments.compile, arrays.arrays));
  std::vector<InputSet> inputs;
  if (!(arguments.inputs + arguments.expected + arguments.test_data).empty()) {
    TUNEC_ASSIGN(Case given, ReadCase(arguments, session.graph, arrays));
    inputs.push_back(std::move(given.inputs));
  }
  for (int i = 0; i < arguments.random_inputs; ++i) {
    const uint64_t seed = arguments.input_seed + static_cast<uint64_t>(i);
    const InputKind kind = kPassKinds[static_cast<size_t>(i) % std::size(kPassKinds)];
    TUNEC_ASSIGN(std::vector<Array> random, RandomInputs(session.graph, seed, kind));
    inputs.push_back(std::move(random));
  }
  if (inputs.empty())
    return Fail(ErrorCode::kInvalidArgument, "no inputs to verify on: --random-inputs is 0");
  const std::vector<std::string> names = arguments.pipeline ? DefaultPipeline() : arguments.passes;
  return PrintPassAnswers(
      session.graph, names, inputs, PassesOf(session.options).pass,
      {.tolerance = arguments.tolerance.value_or(kOutputTolerance), .form = FormOf(arguments)});
}

/// The outputs of the reference execution, and the tolerance of the model's outputs.
struct ExpectedOutputs {
  std::vector<Array> reference;  // empty if not needed
  VerifyTolerance tolerance;
};

Result<ExpectedOutputs> ChooseExpected(const VerifyArguments& arguments, const Session& session,
                                       const Case& given) {
  ExpectedOutputs expected;
  const Accuracy& accuracy = session.options.accuracy;
  const bool propagates = !arguments.tolerance && RoundsOperands(accuracy);
  if (propagates || !arguments.skip_reference) {
    TUNEC_ASSIGN(expected.reference, RunReference(session.graph, given.inputs));
  }
  expected.tolerance = ToleranceFor(session.graph, accuracy);
  if (arguments.tolerance) expected.tolerance = {*arguments.tolerance, ""};
  if (propagates) {
    TUNEC_ASSIGN(expected.tolerance,
                 PropagatedTolerance(session.graph, given.inputs, accuracy, expected.reference));
  }
  return expected;
}

// A check of a model's outputs on sets of inputs, with the results so far.
class ModelCheck {
 public:
  ModelCheck(const VerifyArguments& arguments, const Session& session, const Executable& executable)
      : arguments_(arguments), session_(session), executable_(executable) {}

  /// Checks a run on given inputs, or on random inputs of the kind kUniform.
  Status CheckCase(const Case& given, std::string_view inputs) {
    TUNEC_ASSIGN(const std::vector<Array> outputs, RunModel(executable_, given.inputs));
    NoteOutsideIndices(executable_);
    TUNEC_ASSIGN(const ExpectedOutputs expected, ChooseExpected(arguments_, session_, given));
    tolerance_ = expected.tolerance;
    if (given.expected) Compare("expected", inputs, outputs, *given.expected);
    if (!arguments_.skip_reference) Compare("reference", inputs, outputs, expected.reference);
    return {};
  }

  /// Checks a run on random inputs of this kind. In text form, adds rows only for wrong outputs.
  Status CheckKind(InputKind kind) {
    Case random;
    TUNEC_ASSIGN(random.inputs, RandomInputs(session_.graph, arguments_.input_seed, kind));
    TUNEC_ASSIGN(const std::vector<Array> outputs, RunModel(executable_, random.inputs));
    TUNEC_ASSIGN(const ExpectedOutputs expected, ChooseExpected(arguments_, session_, random));
    TUNEC_ASSIGN(const std::vector<HardOutput> checked,
                 CheckHardOutputs(session_.graph, random.inputs, outputs, expected.reference,
                                  expected.tolerance.threshold));
    const bool right = std::ranges::all_of(checked, &HardOutput::IsRight);
    if (right) right_kinds_.push_back(Name(kind));
    for (const HardOutput& output : checked)
      if (arguments_.json || !output.IsRight()) AddError(table_, "reference", Name(kind), output);
    right_ = right_ && right;
    return {};
  }

  int Print() const {
    if (arguments_.json) {
      PrintJson({{"outputs", table_.Json()}, {"ok", right_}, {"threshold_from", tolerance_.why}});
    } else {
      fmt::print("{}", table_.Print());
      if (!tolerance_.why.empty()) fmt::print("({})\n", tolerance_.why);
      if (!right_kinds_.empty()) fmt::print("also ok: {}\n", fmt::join(right_kinds_, ", "));
    }
    if (right_) return kExitOk;
    fmt::print(stderr, "error: outputs differ by more than {:g} of their largest magnitude\n",
               tolerance_.threshold);
    return kExitFailure;
  }

 private:
  void Compare(const std::string& against, std::string_view inputs,
               const std::vector<Array>& outputs, const std::vector<Array>& expected) {
    for (OutputError& error : CompareOutputs(OutputSpecs(session_.graph), outputs, expected)) {
      const HardOutput output{.error = std::move(error), .threshold = tolerance_.threshold};
      AddError(table_, against, inputs, output);
      right_ = right_ && output.IsRight();
    }
  }

  const VerifyArguments& arguments_;
  const Session& session_;
  const Executable& executable_;
  TextTable table_{{{"output"},
                    {"against"},
                    {"inputs"},
                    {"max error", Align::kRight, "max_error"},
                    {"magnitude", Align::kRight},
                    {"relative", Align::kRight},
                    {"threshold", Align::kRight},
                    {"verdict"}}};
  VerifyTolerance tolerance_;
  std::vector<std::string_view> right_kinds_;
  bool right_ = true;
};

Result<int> VerifyModel(const VerifyArguments& arguments) {
  CatchInterrupts();
  if (arguments.pipeline || !arguments.passes.empty()) return VerifyGraphPasses(arguments);
  if (arguments.skip_reference && arguments.expected.empty() && arguments.test_data.empty())
    return Fail(ErrorCode::kInvalidArgument, "--skip-reference needs --expected or --test-data");
  TUNEC_ASSIGN(const ArrayFile arrays, ReadGiven(arguments));
  TUNEC_ASSIGN(Session session, OpenRunnable(arguments.compile, arrays.arrays));
  TUNEC_ASSIGN(const Case given, ReadCase(arguments, session.graph, arrays));
  TUNEC_ASSIGN(const CompiledModel model,
               Compile(session.graph, session.database.get(), session.options));
  ModelCheck check(arguments, session, *model.executable);
  const bool is_random = arrays.file.empty() && arguments.test_data.empty();
  TUNEC_RETURN_IF_ERROR(check.CheckCase(given, is_random ? Name(InputKind::kUniform) : "given"));
  if (is_random && HasFloatInput(session.graph)) {
    // Instructions on bfloat16 treat denormal operands as zero, which these contracts allow.
    const AccuracyMode mode = session.options.accuracy.mode;
    const bool flushes = mode == AccuracyMode::kTf32 || mode == AccuracyMode::kBf16;
    for (const InputKind kind : AllInputKinds().subspan(1)) {
      if (kind == InputKind::kDenormal && flushes) continue;
      TUNEC_RETURN_IF_ERROR(check.CheckKind(kind));
    }
  }
  return check.Print();
}

}  // namespace

void AddVerifyCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App& command = AddSubcommand(root, invocation, "verify",
                                    "check a model's outputs against the reference execution",
                                    arguments, VerifyModel);
  AddCompileArguments(command, arguments->compile);
  CLI::Option* inputs =
      command
          .add_option("--inputs", arguments->inputs,
                      "arrays by input name (default: those of --expected, else random)")
          ->type_name("FILE.npz");
  command.add_option("--input-seed", arguments->input_seed, "of random inputs (default 0)")
      ->type_name("N")
      ->excludes(inputs);
  CLI::Option* expected =
      command
          .add_option("--expected", arguments->expected,
                      "arrays by output name to compare with, and by input name to run on")
          ->type_name("FILE.npz");
  command
      .add_option("--test-data", arguments->test_data,
                  "a test_data_set folder of ONNX: input_0.pb, ..., output_0.pb, ...")
      ->type_name("FOLDER")
      ->excludes(inputs)
      ->excludes(expected);
  command
      .add_option(
          "--tolerance", arguments->tolerance,
          "error relative to the largest magnitude (default 1e-4; of models that compute in "
          "f16 16 * 2^-11, in bf16 16 * 2^-8, quantised to 8 bits 4/127, to 16 4/32767; under "
          "contracts that round operands twice what the roundings alone do)")
      ->type_name("E")
      ->check(NotNegative());
  CLI::Option* pass =
      command
          .add_option(
              "--pass", arguments->passes,
              "verify this graph pass instead: numerics, lint, parameters; several run in order")
          ->type_name("NAME")
          ->expected(1)
          ->take_all();
  command.add_flag("--pipeline", arguments->pipeline, "verify each pass of the default pipeline")
      ->excludes(pass);
  command
      .add_option(
          "--random-inputs", arguments->random_inputs,
          "how many random inputs passes are verified on, beside those given (default 4, one of "
          "each kind)")
      ->type_name("N")
      ->check(HideDescription(CLI::Range(0, 10000)));
  command.add_flag("--json", arguments->json, "print JSON");
  command.add_flag("--skip-reference", arguments->skip_reference,
                   "compare with the expected outputs only");
}

}  // namespace tunec
