// The C functions: arguments checked, exceptions stopped, errors kept per thread.
#include "api/include/tunec/tunec.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "api/dlpack.h"
#include "api/given_weights.h"
#include "api/options.h"
#include "compiler/compiler.h"
#include "compiler/report_json.h"
#include "ir/allocate_array.h"
#include "support/processors.h"

using tunec::ErrorCode;
using tunec::Result;
using tunec::Status;

static_assert(TUNEC_INVALID_ARGUMENT == static_cast<int>(ErrorCode::kInvalidArgument));
static_assert(TUNEC_PARSE_ERROR == static_cast<int>(ErrorCode::kParse));
static_assert(TUNEC_UNSUPPORTED == static_cast<int>(ErrorCode::kUnsupported));
static_assert(TUNEC_NOT_FOUND == static_cast<int>(ErrorCode::kNotFound));
static_assert(TUNEC_IO_ERROR == static_cast<int>(ErrorCode::kIo));
static_assert(TUNEC_ILLEGAL_SCHEDULE == static_cast<int>(ErrorCode::kIllegalSchedule));
static_assert(TUNEC_RESOURCE_LIMIT == static_cast<int>(ErrorCode::kResourceLimit));
static_assert(TUNEC_DEVICE_ERROR == static_cast<int>(ErrorCode::kDevice));
static_assert(TUNEC_CANCELLED == static_cast<int>(ErrorCode::kCancelled));
static_assert(TUNEC_WRONG_RESULT == static_cast<int>(ErrorCode::kWrongResult));
static_assert(TUNEC_INTERNAL_ERROR == static_cast<int>(ErrorCode::kInternal));

struct tunec_executable {
  std::shared_ptr<const tunec::Executable> executable;
  std::string report;  // as JSON
};

namespace tunec {
namespace {

/// The latest failure's message. Without memory for it, a text that needs none.
thread_local std::string latest_error;
thread_local const char* latest_error_text = "";

void KeepMessage(const Error& error) noexcept {
  try {
    latest_error = error.Format();
    // The word belongs before a message on a terminal, not into one that is passed on.
    constexpr std::string_view kPrefix = "error: ";
    if (latest_error.starts_with(kPrefix)) latest_error.erase(0, kPrefix.size());
    latest_error_text = latest_error.c_str();
  } catch (...) {
    latest_error_text = "not enough memory for the error's message";
  }
}

/// Runs `body` and turns what it returns or throws into a status.
template <class Body>
int Guarded(Body body) noexcept {
  try {
    Status status = body();
    if (status) return TUNEC_OK;
    KeepMessage(status.error());
    return static_cast<int>(status.error().code);
  } catch (const AllocationFailure& failure) {
    KeepMessage(Error{ErrorCode::kResourceLimit, failure.what(), std::nullopt});
    return TUNEC_RESOURCE_LIMIT;
  } catch (const std::bad_alloc&) {
    latest_error_text = "not enough memory";
    return TUNEC_RESOURCE_LIMIT;
  } catch (const std::exception& exception) {
    KeepMessage(Error{ErrorCode::kInternal, exception.what(), std::nullopt});
    return TUNEC_INTERNAL_ERROR;
  } catch (...) {
    latest_error_text = "an exception of unknown type";
    return TUNEC_INTERNAL_ERROR;
  }
}

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

/// A struct of the caller's, whose members that its header did not have yet are null. Those that
/// ours does not have yet must be null: they would be dropped silently. tunec_`kind` is the
/// struct, `name` what the caller knows it as, `members` what it has.
template <class Struct>
Result<Struct> KnownPart(const Struct& given, std::string_view kind, std::string_view name,
                         std::string_view members) {
  constexpr size_t kEntry = sizeof(void*);
  constexpr size_t kMost = 64 * kEntry;  // a greater size is no struct's, but a number not set
  static_assert(sizeof(Struct) % kEntry == 0 && sizeof(Struct) <= kMost);
  if (given.size < kEntry || given.size > kMost || given.size % kEntry != 0)
    return Fail(ErrorCode::kInvalidArgument, "{}.size is {}, expected sizeof(tunec_{}), here {}",
                name, given.size, kind, sizeof given);
  const std::span bytes(reinterpret_cast<const std::byte*>(&given), given.size);
  const std::span ours = bytes.first(std::min(bytes.size(), sizeof given));
  const auto is_set = [](std::byte byte) { return byte != std::byte{0}; };
  if (std::ranges::any_of(bytes.subspan(ours.size()), is_set))
    return Fail(ErrorCode::kInvalidArgument,
                "{} have {} beyond the {} bytes that this library knows", name, members,
                sizeof given);
  Struct known = {};
  std::memcpy(&known, ours.data(), ours.size());
  return known;
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

/// What both ways to compile have in common: `load` reads the model, once the options are known
/// to be right. `model` is the caller's pointer to it, `what` its name.
template <class Load>
int CompileModel(const void* model, std::string_view what, const char* options_json,
                 const tunec_callbacks* callbacks, tunec_executable** out, Load load) noexcept {
  return Guarded([&]() -> Status {
    if (out != nullptr) *out = nullptr;
    if (model == nullptr || out == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "{} is null", out == nullptr ? "out" : what);
    TUNEC_ASSIGN(const CompileCall call, ReadCall(options_json, callbacks));
    TUNEC_ASSIGN(const Graph graph, load(call.settings));
    TUNEC_ASSIGN(auto executable, CompileGraph(graph, call));
    *out = executable.release();
    return {};
  });
}

const TensorSpec* At(const std::vector<TensorSpec>& specs, size_t index) {
  return index < specs.size() ? &specs[index] : nullptr;
}
const TensorSpec* Input(const tunec_executable* executable, size_t index) {
  return executable == nullptr ? nullptr : At(executable->executable->Inputs(), index);
}
const TensorSpec* Output(const tunec_executable* executable, size_t index) {
  return executable == nullptr ? nullptr : At(executable->executable->Outputs(), index);
}

const char* NameOf(const TensorSpec* spec) {
  return spec == nullptr ? nullptr : spec->name.c_str();
}
DLDataType TypeOf(const TensorSpec* spec) {
  return spec == nullptr ? DLDataType{0, 0, 0} : DlpackType(spec->type);
}
int DimensionsOf(const TensorSpec* spec) {
  return spec == nullptr ? -1 : static_cast<int>(spec->shape.size());
}
const int64_t* ShapeOf(const TensorSpec* spec) {
  static constexpr int64_t kOfScalars = 0;
  if (spec == nullptr) return nullptr;
  return spec->shape.empty() ? &kOfScalars : spec->shape.data();
}

size_t SizeOfTensor(const TensorSpec* spec) {
  return spec == nullptr ? 0 : static_cast<size_t>(ByteSize(*spec).value_or(0));
}
int IndexOf(const std::vector<TensorSpec>& specs, const char* name) {
  if (name == nullptr) return -1;
  const auto found = std::ranges::find(specs, std::string_view(name), &TensorSpec::name);
  return found == specs.end() ? -1 : static_cast<int>(found - specs.begin());
}

/// Where the tensors of one side lie.
template <class Pointer>
struct Buffers {
  std::vector<Pointer> data;
  std::vector<BufferPlace> places;
};

template <class Pointer>
Status Collect(DLTensor* const* tensors, const std::vector<TensorSpec>& specs,
               std::string_view what, std::optional<int> device, Buffers<Pointer>& buffers) {
  buffers.data.clear();
  buffers.places.clear();
  if (specs.empty()) return {};
  if (tensors == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "the array of {}s is null", what);
  for (size_t i = 0; i < specs.size(); ++i) {
    TUNEC_ASSIGN(const TensorData tensor, CheckedData(tensors[i], specs[i], what, device));
    buffers.data.push_back(tensor.data);
    buffers.places.push_back(tensor.place);
  }
  return {};
}

/// Kept per thread, so that a run allocates nothing.
struct RunTensors {
  Buffers<const void*> from;
  Buffers<void*> to;

  RunOptions Options(void* stream, RunReturn returns) const {
    return {.inputs = from.places, .outputs = to.places, .stream = stream, .returns = returns};
  }
};
thread_local RunTensors tensors;

Status CollectAll(const Executable& executable, DLTensor* const* inputs, DLTensor* const* outputs) {
  const std::optional<int> device = executable.DeviceNumber();
  TUNEC_RETURN_IF_ERROR(Collect(inputs, executable.Inputs(), "input", device, tensors.from));
  return Collect(outputs, executable.Outputs(), "output", device, tensors.to);
}

Status Run(const tunec_executable* executable, DLTensor* const* inputs, DLTensor* const* outputs,
           void* stream, RunReturn returns) {
  if (executable == nullptr) return Fail(ErrorCode::kInvalidArgument, "the executable is null");
  TUNEC_RETURN_IF_ERROR(CollectAll(*executable->executable, inputs, outputs));
  return executable->executable->Run(tensors.from.data, tensors.to.data,
                                     tensors.Options(stream, returns));
}

Status ProfileTensors(const Executable& executable, DLTensor* const* inputs,
                      DLTensor* const* outputs, double* seconds) {
  TUNEC_RETURN_IF_ERROR(CollectAll(executable, inputs, outputs));
  TUNEC_ASSIGN(const std::vector<double> steps,
               executable.ProfileRun(tensors.from.data, tensors.to.data,
                                     tensors.Options(nullptr, RunReturn::kDone)));
  std::ranges::copy(steps, seconds);
  return {};
}

/// Kept per thread for its caller.
thread_local std::string notes_text;

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
      [&](const tunec::Settings& settings) { return tunec::LoadModel(model_path, settings); });
}

int tunec_compile_bytes(const void* bytes, size_t num_bytes, const char* format,
                        const char* options_json, const tunec_callbacks* callbacks,
                        tunec_executable** out) {
  return tunec::CompileModel(
      bytes, "bytes", options_json, callbacks, out, [&](const tunec::Settings& settings) {
        const auto* begin = static_cast<const std::byte*>(bytes);
        return tunec::LoadModelBytes({begin, num_bytes}, format == nullptr ? "" : format, settings);
      });
}

int tunec_compile_graph(const char* text, size_t num_bytes, size_t num_weights,
                        const char* const* names, const DLTensor* const* tensors,
                        const char* options_json, const tunec_callbacks* callbacks,
                        tunec_executable** out) {
  return tunec::CompileModel(text, "text", options_json, callbacks, out,
                             [&](const tunec::Settings& settings) -> Result<tunec::Graph> {
                               TUNEC_ASSIGN(const auto weights,
                                            tunec::GivenWeights::Make(num_weights, names, tensors));
                               return tunec::LoadGraphText({text, num_bytes}, weights, settings);
                             });
}

void tunec_release(tunec_executable* executable) {
  tunec::Guarded([&]() -> Status {
    delete executable;
    return {};
  });
}

size_t tunec_num_inputs(const tunec_executable* executable) {
  return executable == nullptr ? 0 : executable->executable->Inputs().size();
}
size_t tunec_num_outputs(const tunec_executable* executable) {
  return executable == nullptr ? 0 : executable->executable->Outputs().size();
}

const char* tunec_input_name(const tunec_executable* executable, size_t index) {
  return tunec::NameOf(tunec::Input(executable, index));
}
const char* tunec_output_name(const tunec_executable* executable, size_t index) {
  return tunec::NameOf(tunec::Output(executable, index));
}
DLDataType tunec_input_type(const tunec_executable* executable, size_t index) {
  return tunec::TypeOf(tunec::Input(executable, index));
}
DLDataType tunec_output_type(const tunec_executable* executable, size_t index) {
  return tunec::TypeOf(tunec::Output(executable, index));
}
int tunec_input_ndim(const tunec_executable* executable, size_t index) {
  return tunec::DimensionsOf(tunec::Input(executable, index));
}
int tunec_output_ndim(const tunec_executable* executable, size_t index) {
  return tunec::DimensionsOf(tunec::Output(executable, index));
}
const int64_t* tunec_input_shape(const tunec_executable* executable, size_t index) {
  return tunec::ShapeOf(tunec::Input(executable, index));
}
const int64_t* tunec_output_shape(const tunec_executable* executable, size_t index) {
  return tunec::ShapeOf(tunec::Output(executable, index));
}

size_t tunec_input_bytes(const tunec_executable* executable, size_t index) {
  return tunec::SizeOfTensor(tunec::Input(executable, index));
}
size_t tunec_output_bytes(const tunec_executable* executable, size_t index) {
  return tunec::SizeOfTensor(tunec::Output(executable, index));
}
int tunec_input_index(const tunec_executable* executable, const char* name) {
  return executable == nullptr ? -1 : tunec::IndexOf(executable->executable->Inputs(), name);
}
int tunec_output_index(const tunec_executable* executable, const char* name) {
  return executable == nullptr ? -1 : tunec::IndexOf(executable->executable->Outputs(), name);
}

size_t tunec_num_steps(const tunec_executable* executable) {
  return executable == nullptr ? 0 : executable->executable->StepNames().size();
}
const char* tunec_step_name(const tunec_executable* executable, size_t index) {
  if (index >= tunec_num_steps(executable)) return nullptr;
  return executable->executable->StepNames()[index].c_str();
}

int tunec_profile(tunec_executable* executable, DLTensor* const* inputs, DLTensor* const* outputs,
                  double* seconds) {
  return tunec::Guarded([&]() -> Status {
    if (executable == nullptr || seconds == nullptr)
      return tunec::Fail(ErrorCode::kInvalidArgument, "{} is null",
                         executable == nullptr ? "the executable" : "seconds");
    return tunec::ProfileTensors(*executable->executable, inputs, outputs, seconds);
  });
}

int tunec_run(tunec_executable* executable, DLTensor* const* inputs, DLTensor* const* outputs) {
  return tunec_run_with_options(executable, inputs, outputs, /*options=*/nullptr);
}

int tunec_run_with_options(tunec_executable* executable, DLTensor* const* inputs,
                           DLTensor* const* outputs, const tunec_run_options* options) {
  return tunec::Guarded([&]() -> Status {
    tunec_run_options known = {};
    if (options != nullptr) {
      TUNEC_ASSIGN(known, tunec::KnownPart(*options, "run_options", "options", "members"));
    }
    const auto returns = known.queued != 0 ? tunec::RunReturn::kQueued : tunec::RunReturn::kDone;
    return tunec::Run(executable, inputs, outputs, known.stream, returns);
  });
}

int tunec_wait(tunec_executable* executable) {
  return tunec::Guarded([&]() -> Status {
    if (executable == nullptr)
      return tunec::Fail(ErrorCode::kInvalidArgument, "the executable is null");
    return executable->executable->Wait();
  });
}

const char* tunec_notes(const tunec_executable* executable) {
  tunec::notes_text.clear();
  tunec::Guarded([&]() -> Status {
    if (executable == nullptr) return {};
    for (const std::string& note : executable->executable->Notes())
      tunec::notes_text += note + "\n";
    return {};
  });
  return tunec::notes_text.c_str();
}

uint64_t tunec_outside_indices(const tunec_executable* executable) {
  uint64_t count = 0;
  tunec::Guarded([&]() -> Status {
    if (executable == nullptr) return {};
    for (const tunec::OutsideIndices& outside : executable->executable->Outside())
      count += static_cast<uint64_t>(outside.count);
    return {};
  });
  return count;
}

const char* tunec_report_json(const tunec_executable* executable) {
  return executable == nullptr ? nullptr : executable->report.c_str();
}

const char* tunec_error_message(void) { return tunec::latest_error_text; }

int tunec_num_processors(void) {
  int count = 1;
  tunec::Guarded([&]() -> Status {
    count = tunec::UsableProcessors();
    return {};
  });
  return count;
}

const char* tunec_version(void) { return TUNEC_VERSION; }

}  // extern "C"
