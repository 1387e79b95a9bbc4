// The C functions that compile.
#include "api/include/tunec/tunec.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "api/given_weights.h"
#include "api/graph_texts.h"
#include "api/options.h"
#include "api/run/executable.h"
#include "api/run/guarded.h"
#include "compiler/compiler.h"
#include "compiler/report_json.h"
#include "compiler/sized/load_sized.h"
#include "compiler/sized/sized_model.h"

using tunec::ErrorCode;
using tunec::Fail;
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

/// The options of a call, read and checked.
struct CompileCall {
  Settings settings;
  CompileOptions options;
};

Result<CompileCall> ReadCall(const char* options_json, const tunec_callbacks* callbacks) {
  std::optional<tunec_callbacks> known;
  if (callbacks != nullptr) {
    TUNEC_ASSIGN(known, KnownPart(*callbacks, "callbacks", "callbacks", "functions"));
  }
  CompileCall call;
  TUNEC_ASSIGN(call.settings, ParseApiOptions(options_json == nullptr ? "" : options_json));
  TUNEC_ASSIGN(call.options, MakeCompileOptions(call.settings));
  if (known) SetCallbacks(*known, call.options);
  if (call.settings.verbose) call.options.on_detail = call.options.on_log;
  return call;
}

Result<std::unique_ptr<tunec_executable>> CompileGraph(const Graph& graph,
                                                       const CompileCall& call) {
  TUNEC_ASSIGN(const std::unique_ptr<Database> database,
               OpenDatabase(call.settings, call.options.on_log));
  TUNEC_ASSIGN(const CompiledModel model, Compile(graph, database.get(), call.options));
  const std::string report = ReportJson(model, call.options)
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return std::make_unique<tunec_executable>(model.executable, report);
}

Result<std::unique_ptr<tunec_executable>> CompileAnySize(SizedSource source,
                                                         const CompileCall& call) {
  SizedOptions options{.listed = {}, .compile = call.options};
  TUNEC_ASSIGN(options.listed, ListedSizesOf(source, call.settings));
  TUNEC_ASSIGN(std::unique_ptr<Database> database,
               OpenDatabase(call.settings, call.options.on_log));
  TUNEC_ASSIGN(std::unique_ptr<SizedModel> model,
               SizedModel::Make(std::move(source), std::move(options), std::move(database)));
  auto executable = std::make_unique<tunec_executable>();
  executable->any_shape = std::move(model);
  return executable;
}

/// What all ways to compile have in common: `load` reads the model, once the options are known to
/// be right, `load_sized` one whose dimensions have several sizes. `model` is the caller's pointer
/// to it, `what` its name.
template <class Load, class LoadSized>
int CompileModel(const void* model, std::string_view what, const char* options_json,
                 const tunec_callbacks* callbacks, tunec_executable** out, Load load,
                 LoadSized load_sized) noexcept {
  return Guarded([&]() -> Status {
    if (out != nullptr) *out = nullptr;
    if (model == nullptr || out == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "{} is null", out == nullptr ? "out" : what);
    TUNEC_ASSIGN(const CompileCall call, ReadCall(options_json, callbacks));
    if (HasSeveralSizes(call.settings)) {
      TUNEC_ASSIGN(SizedSource source, load_sized(call.settings));
      TUNEC_ASSIGN(auto executable, CompileAnySize(std::move(source), call));
      *out = executable.release();
      return {};
    }
    TUNEC_ASSIGN(const Graph graph, load(call.settings));
    TUNEC_ASSIGN(auto executable, CompileGraph(graph, call));
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
  return tunec::CompileModel(
      model_path, "model_path", options_json, callbacks, out,
      [&](const tunec::Settings& settings) { return tunec::LoadModel(model_path, settings); },
      [&](const tunec::Settings& settings) { return tunec::LoadSizedModel(model_path, settings); });
}

int tunec_compile_bytes(const void* bytes, size_t num_bytes, const char* format,
                        const char* options_json, const tunec_callbacks* callbacks,
                        tunec_executable** out) {
  const std::span model(static_cast<const std::byte*>(bytes), bytes == nullptr ? 0 : num_bytes);
  const std::string_view kind = format == nullptr ? "" : format;
  return tunec::CompileModel(
      bytes, "bytes", options_json, callbacks, out,
      [&](const tunec::Settings& settings) { return tunec::LoadModelBytes(model, kind, settings); },
      [&](const tunec::Settings& settings) {
        return tunec::LoadSizedModelBytes(model, kind, settings);
      });
}

int tunec_compile_graph(const char* text, size_t num_bytes, size_t num_weights,
                        const char* const* names, const DLTensor* const* tensors,
                        const char* options_json, const tunec_callbacks* callbacks,
                        tunec_executable** out) {
  return tunec::CompileModel(
      text, "text", options_json, callbacks, out,
      [&](const tunec::Settings& settings) -> Result<tunec::Graph> {
        TUNEC_ASSIGN(const auto weights, tunec::GivenWeights::Make(num_weights, names, tensors));
        return tunec::LoadGraphText({text, num_bytes}, weights, settings);
      },
      [&](const tunec::Settings& settings) -> Result<tunec::SizedSource> {
        TUNEC_ASSIGN(auto weights, tunec::GivenWeights::Make(num_weights, names, tensors));
        auto kept = std::make_shared<const tunec::GivenWeights>(std::move(weights));
        return tunec::LoadSizedText({text, num_bytes}, std::move(kept), settings);
      });
}

int tunec_compile_any_size(const tunec_graph_source* source, const char* options_json,
                           const tunec_callbacks* callbacks, tunec_executable** out) {
  return tunec::Guarded([&]() -> Status {
    if (out != nullptr) *out = nullptr;
    if (source == nullptr || out == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "{} is null", out == nullptr ? "out" : "source");
    TUNEC_ASSIGN(const auto known, tunec::KnownPart(*source, "graph_source", "source", "members"));
    TUNEC_ASSIGN(tunec::SizedSource given, tunec::SourceOfTexts(known));
    TUNEC_ASSIGN(const tunec::CompileCall call, tunec::ReadCall(options_json, callbacks));
    TUNEC_ASSIGN(auto executable, tunec::CompileAnySize(std::move(given), call));
    *out = executable.release();
    return {};
  });
}

}  // extern "C"
