// Definitions of the C functions that compile models.
#include "api/include/tunec/tunec.h"

#include "api/include/tunec/graph.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/background_tuning.h"
#include "api/built_graph.h"
#include "api/given_weights.h"
#include "api/options.h"
#include "api/run/executable.h"
#include "api/run/guarded.h"
#include "compiler/compiler.h"
#include "compiler/report/report_json.h"
#include "compiler/sized/lay_source.h"
#include "compiler/sized/load_sized.h"
#include "compiler/sized/sized_model.h"
#include "compiler/weights/shared_packed_weights.h"
#include "graph/edge_layouts.h"
#include "graph/text/graph_text.h"
#include "support/file.h"

using tunec::ErrorCode;
using tunec::Fail;
using tunec::Graph;
using tunec::Result;
using tunec::Status;

namespace tunec {
namespace {

tunec_progress Summarize(const TuneProgress& progress) {
  tunec_progress summary = {};
  summary.size = sizeof summary;
  summary.tasks = progress.tasks.size();
  for (const TaskProgress& task : progress.tasks) summary.tasks_timed += task.best_seconds ? 1 : 0;
  summary.trials = progress.trials;
  summary.budget = progress.budget;
  summary.measured = progress.measured;
  summary.elapsed_seconds = progress.elapsed_seconds;
  summary.model_seconds = progress.total_seconds.value_or(-1);
  return summary;
}

void SetCallbacks(const tunec_callbacks& callbacks, CompileOptions& options) {
  if (callbacks.progress != nullptr)
    options.on_progress = [callbacks](const TuneProgress& progress) {
      const tunec_progress summary = Summarize(progress);
      callbacks.progress(callbacks.user, &summary);
    };
  if (callbacks.cancelled != nullptr)
    options.cancelled = [callbacks] { return callbacks.cancelled(callbacks.user) != 0; };
  if (callbacks.log != nullptr)
    options.on_log = [callbacks](const std::string& line) {
      callbacks.log(callbacks.user, line.c_str());
    };
}

/// The parsed and checked options of a call that compiles. `options` is made from `settings` and
/// from the caller's callbacks.
struct CompileCall {
  Settings settings;
  CompileOptions options;
};

Result<CompileCall> ReadCall(const char* options_json, const tunec_callbacks* callbacks) {
  std::optional<tunec_callbacks> known;
  if (callbacks != nullptr) {
    TUNEC_ASSIGN(known, CopyKnownMembers(*callbacks, "callbacks", "callbacks", "functions"));
  }
  CompileCall call;
  TUNEC_ASSIGN(call.settings, ParseApiOptions(options_json == nullptr ? "" : options_json));
  TUNEC_ASSIGN(call.options, MakeCompileOptions(call.settings));
  if (known) SetCallbacks(*known, call.options);
  if (call.settings.verbose) call.options.on_detail = call.options.on_log;
  return call;
}

/// A function that reads the graph again for other layouts. The function is empty if the model's
/// source is not retained.
using Reload = std::function<Result<Graph>(const Settings&)>;
using ExecutablePtr = std::unique_ptr<tunec_executable>;

Result<std::vector<AxisOrder>> OrdersOf(const std::vector<TensorSpec>& specs,
                                        const EdgeLayouts& layouts) {
  std::vector<AxisOrder> orders;
  for (const TensorSpec& spec : specs) {
    TUNEC_ASSIGN(orders.emplace_back(), OrderOf(layouts, spec.name, spec.shape.size()));
  }
  return orders;
}

/// Returns the logical specs and the layouts of the inputs and outputs; null if `layouts` is empty.
/// In `inputs` and `outputs`, the axes are in the order of the memory layouts (ApplyEdgeLayouts).
Result<std::unique_ptr<const EdgesWithLayouts>> EdgesOf(const std::vector<TensorSpec>& inputs,
                                                        const std::vector<TensorSpec>& outputs,
                                                        const EdgeLayouts& layouts) {
  if (layouts.empty()) return nullptr;
  EdgesWithLayouts edges{inputs, outputs, {}, {}};
  TUNEC_ASSIGN(edges.input_orders, OrdersOf(inputs, layouts));
  TUNEC_ASSIGN(edges.output_orders, OrdersOf(outputs, layouts));
  for (size_t i = 0; i < inputs.size(); ++i)
    edges.inputs[i].shape = LogicalShape(inputs[i].shape, edges.input_orders[i]);
  for (size_t i = 0; i < outputs.size(); ++i)
    edges.outputs[i].shape = LogicalShape(outputs[i].shape, edges.output_orders[i]);
  return std::make_unique<const EdgesWithLayouts>(std::move(edges));
}

/// Returns whether some input may have another layout. A tensor has only one layout if at most one
/// axis has a size other than 1.
bool HasLayouts(const Graph& graph) {
  return std::ranges::any_of(graph.inputs(), [&](ValueId input) {
    const std::vector<Dim>& dims = graph.value(input).type.dims;
    return std::ranges::count_if(dims, [](const Dim& dim) { return dim != Dim(1); }) > 1;
  });
}

Result<ExecutablePtr> CompileGraph(Graph graph, const CompileCall& call, const Reload& reload);

/// Compiles a model again for tunec_compile_layouts, with the options of `call` except the layouts
/// and callbacks. Null `layouts_json` means that all tensors are row-major.
Result<ExecutablePtr> CompileAgain(CompileCall call, const Reload& reload, const char* layouts_json,
                                   const tunec_callbacks* callbacks) {
  TUNEC_ASSIGN(const CompileCall given, ReadCall(nullptr, callbacks));
  TUNEC_ASSIGN(call.settings.layouts,
               ParseApiLayouts(layouts_json == nullptr ? "{}" : layouts_json));
  call.options.on_log = given.options.on_log;
  if (call.settings.verbose) call.options.on_detail = given.options.on_log;
  call.options.on_progress = given.options.on_progress;
  call.options.cancelled = given.options.cancelled;
  TUNEC_ASSIGN(Graph graph, reload(call.settings));
  return CompileGraph(std::move(graph), call, reload);
}

CompileCall WithoutCallbacks(CompileCall call) {
  call.options.on_progress = nullptr;
  call.options.on_log = call.options.on_detail = nullptr;
  call.options.cancelled = nullptr;
  return call;
}

CompileCall WithoutTuning(CompileCall call) {
  call.settings.trials = call.options.trials = 0;
  call.settings.time_limit_seconds = call.options.time_limit_seconds = 0;
  call.options.retune.clear();
  return call;
}

Result<ReportedExecutable> CompileWithReport(const Graph& graph, const CompileCall& call) {
  TUNEC_ASSIGN(const std::unique_ptr<Database> database,
               OpenDatabase(call.settings, call.options.on_log));
  TUNEC_ASSIGN(CompiledModel model, Compile(graph, database.get(), call.options));
  const nlohmann::json report = ReportJson(model, call.options);
  return ReportedExecutable{std::move(model.executable),
                            report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

/// Starts the tuning of `call` in the background. Until its end the executable runs `made`.
void TuneLater(Graph graph, const CompileCall& call, ReportedExecutable made,
               tunec_executable& executable) {
  // The specs must outlive `made`, because tunec_input_name and others return their addresses.
  if (executable.edges == nullptr)
    executable.edges = std::make_unique<const EdgesWithLayouts>(made.executable->Inputs(),
                                                                made.executable->Outputs());
  executable.executable = nullptr;
  executable.report.clear();
  const auto tune = [graph = std::move(graph), call](const TuningHooks& hooks) {
    CompileCall tuning = call;
    // A tuned schedule must not depend on the weights that untuned code has packed.
    if (call.options.packed_weights != nullptr)
      tuning.options.packed_weights = std::make_shared<SharedPackedWeights>();
    tuning.options.cancelled = hooks.cancelled;
    tuning.options.on_progress = hooks.on_progress;
    return CompileWithReport(graph, tuning);
  };
  executable.tuning = TuneInBackground(std::move(made), tune);
}

Result<ExecutablePtr> CompileGraph(Graph graph, const CompileCall& given, const Reload& reload) {
  CompileCall call = given;
  if (reload && !call.options.target.device && call.options.packed_weights == nullptr &&
      HasLayouts(graph))
    call.options.packed_weights = std::make_shared<SharedPackedWeights>();
  const bool tunes_later = call.settings.background && call.options.Tunes();
  TUNEC_ASSIGN(ReportedExecutable made,
               CompileWithReport(graph, tunes_later ? WithoutTuning(call) : call));
  auto executable = std::make_unique<tunec_executable>(made.executable, made.report);
  TUNEC_ASSIGN(executable->edges, EdgesOf(made.executable->Inputs(), made.executable->Outputs(),
                                          call.settings.layouts));
  CompileCall again = WithoutCallbacks(call);
  if (tunes_later) TuneLater(std::move(graph), again, std::move(made), *executable);
  if (!reload) return executable;
  executable->compile_layouts = [again = WithoutTuning(std::move(again)), reload](
                                    const char* layouts_json, const tunec_callbacks* callbacks) {
    return CompileAgain(again, reload, layouts_json, callbacks);
  };
  return executable;
}

/// A model file and the other files that were read for the model. The model can be read again as
/// long as none of these files has changed.
class ModelFile {
 public:
  explicit ModelFile(std::string path) : path_(std::move(path)) {}

  Result<AnyModel> Load(const Settings& settings) {
    TUNEC_ASSIGN(AnyModel model, LoadAnyModel(path_, settings));
    if (const auto* loaded = std::get_if<LoadedModel>(&model)) files_ = loaded->files;
    return model;
  }

  Result<Graph> LoadAgain(const Settings& settings) const {
    for (const FileStamp& file : files_) {
      if (StampOf(file.path) != file)
        return Fail(ErrorCode::kIo, "{} has changed since the model was compiled",
                    file.path.string());
    }
    return LoadModel(path_, settings);
  }

 private:
  std::string path_;
  std::vector<FileStamp> files_;
};

Result<ExecutablePtr> CompileAnySize(SizedSource given, const CompileCall& call) {
  if (call.settings.background)
    return Fail(ErrorCode::kUnsupported, "the option 'background' is for models with fixed shapes");
  TUNEC_ASSIGN(SizedSource source, ApplySourceLayouts(std::move(given), call.settings.layouts));
  SizedOptions options{.listed = {}, .compile = call.options};
  TUNEC_ASSIGN(options.listed, ListedSizesOf(source, call.settings));
  TUNEC_ASSIGN(std::unique_ptr<Database> database,
               OpenDatabase(call.settings, call.options.on_log));
  TUNEC_ASSIGN(std::unique_ptr<SizedModel> model,
               SizedModel::Make(std::move(source), std::move(options), std::move(database)));
  auto executable = std::make_unique<tunec_executable>();
  TUNEC_ASSIGN(executable->edges,
               EdgesOf(model->Inputs(), model->Outputs(), call.settings.layouts));
  executable->any_shape = std::move(model);
  return executable;
}

/// Compiles a model from a file, bytes or a text. After a check of the options, `load` reads the
/// model. `model` is the caller's pointer to the path, bytes or text, and `what` the pointer's name
/// in messages. `make_reload` is called before `load`, and returns a function that reads a model
/// with fixed sizes again for other layouts, or an empty one.
template <class Load, class MakeReload>
int CompileModel(const void* model, std::string_view what, const char* options_json,
                 const tunec_callbacks* callbacks, tunec_executable** out, Load load,
                 MakeReload make_reload) noexcept {
  return Guarded([&]() -> Status {
    if (out != nullptr) *out = nullptr;
    if (model == nullptr || out == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "{} is null", out == nullptr ? "out" : what);
    TUNEC_ASSIGN(const CompileCall call, ReadCall(options_json, callbacks));
    TUNEC_ASSIGN(const Reload reload, make_reload());
    TUNEC_ASSIGN(AnyModel loaded, load(call.settings));
    if (auto* source = std::get_if<SizedSource>(&loaded)) {
      TUNEC_ASSIGN(auto executable, CompileAnySize(std::move(*source), call));
      *out = executable.release();
      return {};
    }
    Graph& graph = std::get<LoadedModel>(loaded).graph;
    TUNEC_ASSIGN(auto executable, CompileGraph(std::move(graph), call, reload));
    *out = executable.release();
    return {};
  });
}

}  // namespace
}  // namespace tunec

extern "C" {

int tunec_compile(const char* model_path, const char* options_json, tunec_executable** out) {
  return tunec_compile_with_callbacks(model_path, options_json, nullptr, out);
}

int tunec_compile_with_callbacks(const char* model_path, const char* options_json,
                                 const tunec_callbacks* callbacks, tunec_executable** out) {
  std::shared_ptr<tunec::ModelFile> file;
  return tunec::CompileModel(
      model_path, "model_path", options_json, callbacks, out,
      [&](const tunec::Settings& settings) { return file->Load(settings); },
      [&]() -> Result<tunec::Reload> {
        file = std::make_shared<tunec::ModelFile>(model_path);
        return [file](const tunec::Settings& settings) { return file->LoadAgain(settings); };
      });
}

int tunec_compile_bytes(const void* bytes, size_t num_bytes, const char* format,
                        const char* options_json, const tunec_callbacks* callbacks,
                        tunec_executable** out) {
  const std::span model(static_cast<const std::byte*>(bytes), bytes == nullptr ? 0 : num_bytes);
  const std::string_view kind = format == nullptr ? "" : format;
  return tunec::CompileModel(
      bytes, "bytes", options_json, callbacks, out,
      [&](const tunec::Settings& settings) {
        return tunec::LoadAnyModelBytes(model, kind, settings);
      },
      // The bytes are retained only if `format` is "graph", since a .graph text is small. The bytes
      // of an ONNX model usually include the weights.
      [&]() -> Result<tunec::Reload> {
        if (kind != "graph") return nullptr;
        return [text = std::vector(model.begin(), model.end())](const tunec::Settings& settings) {
          return tunec::LoadModelBytes(text, "graph", settings);
        };
      });
}

int tunec_compile_graph(const char* text, size_t num_bytes, size_t num_weights,
                        const char* const* names, const DLTensor* const* tensors,
                        const char* options_json, const tunec_callbacks* callbacks,
                        tunec_executable** out) {
  return tunec::CompileModel(
      text, "text", options_json, callbacks, out,
      [&](const tunec::Settings& settings) -> Result<tunec::AnyModel> {
        TUNEC_ASSIGN(auto weights, tunec::GivenWeights::Make(num_weights, names, tensors));
        auto shared_weights = std::make_shared<const tunec::GivenWeights>(std::move(weights));
        return tunec::LoadAnyText({text, num_bytes}, std::move(shared_weights), settings);
      },
      [&]() -> Result<tunec::Reload> {
        TUNEC_ASSIGN(const auto weights, tunec::GivenWeights::Make(num_weights, names, tensors));
        return [weights, copy = std::string(text, num_bytes)](const tunec::Settings& settings) {
          return tunec::LoadGraphText(copy, weights, settings);
        };
      });
}

int tunec_graph_compile(const tunec_graph* graph, size_t num_weights, const char* const* names,
                        const DLTensor* const* tensors, const char* options_json,
                        const tunec_callbacks* callbacks, tunec_executable** out) {
  Graph filled;
  return tunec::CompileModel(
      graph, "graph", options_json, callbacks, out,
      [&](const tunec::Settings& settings) { return tunec::LoadAnyGraph(filled, settings); },
      [&]() -> Result<tunec::Reload> {
        TUNEC_ASSIGN(const auto weights, tunec::GivenWeights::Make(num_weights, names, tensors));
        TUNEC_ASSIGN(const Graph live, graph->Live());
        TUNEC_ASSIGN(filled, FillWeights(live, weights));
        return [filled](const tunec::Settings& settings) -> Result<Graph> {
          TUNEC_ASSIGN(tunec::AnyModel model, tunec::LoadAnyGraph(filled, settings));
          return std::move(std::get<tunec::LoadedModel>(model).graph);
        };
      });
}

int tunec_compile_layouts(const tunec_executable* of, const char* layouts_json,
                          const tunec_callbacks* callbacks, tunec_executable** out) {
  return tunec::Guarded([&]() -> Status {
    if (out != nullptr) *out = nullptr;
    if (of == nullptr || out == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "{} is null", out == nullptr ? "out" : "of");
    if (!of->compile_layouts)
      return Fail(ErrorCode::kUnsupported,
                  "the model cannot be compiled again: its source is not retained");
    TUNEC_ASSIGN(auto executable, of->compile_layouts(layouts_json, callbacks));
    *out = executable.release();
    return {};
  });
}

}  // extern "C"
