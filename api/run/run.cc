// Definitions of the C functions that need only the runtime, except tunec_load. They run, query and
// release executables, or return facts about the library and the machine.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/run/dlpack.h"
#include "api/run/executable.h"
#include "api/run/guarded.h"
#include "support/processors.h"

using tunec::ErrorCode;
using tunec::Result;
using tunec::Status;

namespace tunec {
namespace {

const TensorSpec* At(const std::vector<TensorSpec>& specs, size_t index) {
  return index < specs.size() ? &specs[index] : nullptr;
}
const std::vector<TensorSpec>& InputsOf(const tunec_executable& executable) {
  if (executable.edges) return executable.edges->inputs;
  return executable.any_shape ? executable.any_shape->Inputs() : executable.executable->Inputs();
}
const std::vector<TensorSpec>& OutputsOf(const tunec_executable& executable) {
  if (executable.edges) return executable.edges->outputs;
  return executable.any_shape ? executable.any_shape->Outputs() : executable.executable->Outputs();
}
const TensorSpec* Input(const tunec_executable* executable, size_t index) {
  return executable == nullptr ? nullptr : At(InputsOf(*executable), index);
}
const TensorSpec* Output(const tunec_executable* executable, size_t index) {
  return executable == nullptr ? nullptr : At(OutputsOf(*executable), index);
}

// Return the layouts of all inputs, or of all outputs; null without the option "layouts", because
// all inputs and outputs are then row-major.
const std::vector<AxisOrder>* InputOrders(const tunec_executable& executable) {
  return executable.edges ? &executable.edges->input_orders : nullptr;
}
const std::vector<AxisOrder>* OutputOrders(const tunec_executable& executable) {
  return executable.edges ? &executable.edges->output_orders : nullptr;
}
const AxisOrder& OrderAt(const std::vector<AxisOrder>* orders, size_t index) {
  static const AxisOrder row_major;
  return orders == nullptr || index >= orders->size() ? row_major : (*orders)[index];
}
const int64_t* AxesOf(const AxisOrder& order) { return order.empty() ? nullptr : order.data(); }

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

/// The addresses of all inputs or of all outputs, and the kind of memory (host or device) of each.
template <class Pointer>
struct Buffers {
  std::vector<Pointer> data;
  std::vector<BufferLocation> locations;
};

template <class Pointer>
Status Collect(DLTensor* const* tensors, const std::vector<TensorSpec>& specs,
               const std::vector<AxisOrder>* orders, std::string_view what,
               std::optional<int> device, Buffers<Pointer>& buffers) {
  buffers.data.clear();
  buffers.locations.clear();
  if (specs.empty()) return {};
  if (tensors == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "the array of {}s is null", what);
  for (size_t i = 0; i < specs.size(); ++i) {
    TUNEC_ASSIGN(const TensorData tensor,
                 CheckedData(tensors[i], specs[i], OrderAt(orders, i), what, device));
    buffers.data.push_back(tensor.data);
    buffers.locations.push_back(tensor.location);
  }
  return {};
}

/// The inputs and outputs of a run. Each thread reuses one object for fixed-shape models, so that
/// their later runs usually allocate no lists of tensors.
struct RunTensors {
  Buffers<const void*> from;
  Buffers<void*> to;

  RunOptions Options(void* stream, RunReturn returns) const {
    return {
        .inputs = from.locations, .outputs = to.locations, .stream = stream, .returns = returns};
  }
};
thread_local RunTensors tensors;

Status CollectAll(const tunec_executable& executable, std::optional<int> device,
                  DLTensor* const* inputs, DLTensor* const* outputs) {
  TUNEC_RETURN_IF_ERROR(Collect(inputs, InputsOf(executable), InputOrders(executable), "input",
                                device, tensors.from));
  return Collect(outputs, OutputsOf(executable), OutputOrders(executable), "output", device,
                 tensors.to);
}

// Returns the shapes of the inputs, each with the axes in the order of the memory layout. Errors:
// those of CheckedShape.
Result<std::vector<Shape>> ShapesOf(const tunec_executable& executable,
                                    const DLTensor* const* given) {
  const std::vector<TensorSpec>& specs = InputsOf(executable);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < specs.size(); ++i) {
    TUNEC_ASSIGN(const std::span<const int64_t> shape, CheckedShape(given[i], specs[i], "input"));
    const AxisOrder& order = OrderAt(InputOrders(executable), i);
    shapes.push_back(order.empty() ? Shape(shape.begin(), shape.end()) : StoredShape(shape, order));
  }
  return shapes;
}

// Returns the logical shapes of the outputs. `inputs` are the results of ShapesOf.
Result<std::vector<Shape>> ResultShapes(const tunec_executable& executable,
                                        std::span<const Shape> inputs) {
  TUNEC_ASSIGN(std::vector<Shape> shapes, executable.any_shape->OutputShapes(inputs));
  for (size_t i = 0; i < shapes.size(); ++i)
    shapes[i] = LogicalShape(shapes[i], OrderAt(OutputOrders(executable), i));
  return shapes;
}

Status RunAnyShape(const tunec_executable& executable, DLTensor* const* inputs,
                   DLTensor* const* outputs, void* stream, RunReturn returns) {
  const std::optional<int> device = executable.any_shape->DeviceNumber();
  // The thread's own `tensors` are not used, because this call may compile and call text_at, which
  // may run another model in this thread.
  RunTensors own;
  TUNEC_RETURN_IF_ERROR(
      Collect(inputs, InputsOf(executable), InputOrders(executable), "input", device, own.from));
  TUNEC_ASSIGN(const std::vector<Shape> shapes, ShapesOf(executable, inputs));
  TUNEC_ASSIGN(const std::vector<Shape> results, ResultShapes(executable, shapes));
  std::vector<TensorSpec> specs = OutputsOf(executable);
  for (size_t i = 0; i < specs.size(); ++i) specs[i].shape = results[i];
  TUNEC_RETURN_IF_ERROR(
      Collect(outputs, specs, OutputOrders(executable), "output", device, own.to));
  return executable.any_shape->Run(shapes, own.from.data, own.to.data,
                                   own.Options(stream, returns));
}

Status OutputShapes(const tunec_executable* executable, const DLTensor* const* inputs,
                    int64_t* const* shapes) {
  if (executable == nullptr) return Fail(ErrorCode::kInvalidArgument, "the executable is null");
  // An array without elements may be null.
  if (inputs == nullptr && !InputsOf(*executable).empty())
    return Fail(ErrorCode::kInvalidArgument, "the array of inputs is null");
  if (shapes == nullptr && !OutputsOf(*executable).empty())
    return Fail(ErrorCode::kInvalidArgument, "the array of shapes is null");
  std::vector<Shape> results;
  if (executable->any_shape == nullptr) {
    for (const TensorSpec& spec : OutputsOf(*executable)) results.push_back(spec.shape);
  } else {
    TUNEC_ASSIGN(const std::vector<Shape> given, ShapesOf(*executable, inputs));
    TUNEC_ASSIGN(results, ResultShapes(*executable, given));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (shapes[i] == nullptr && !results[i].empty())
      return Fail(ErrorCode::kInvalidArgument, "the array of shape {} is null", i);
  }
  for (size_t i = 0; i < results.size(); ++i) std::ranges::copy(results[i], shapes[i]);
  return {};
}

// Fails if the file of a bundle was changed, because runs read weights and code from that file.
Status CheckFile(const tunec_executable& executable) {
  return executable.file == nullptr ? Status() : executable.file->CheckUnchanged();
}

Status Run(const tunec_executable* executable, DLTensor* const* inputs, DLTensor* const* outputs,
           void* stream, RunReturn returns) {
  if (executable == nullptr) return Fail(ErrorCode::kInvalidArgument, "the executable is null");
  TUNEC_RETURN_IF_ERROR(CheckFile(*executable));
  if (executable->any_shape) return RunAnyShape(*executable, inputs, outputs, stream, returns);
  const std::shared_ptr<const Executable> current = executable->Current();
  TUNEC_RETURN_IF_ERROR(CollectAll(*executable, current->DeviceNumber(), inputs, outputs));
  return current->Run(tensors.from.data, tensors.to.data, tensors.Options(stream, returns));
}

Status ProfileTensors(const tunec_executable& executable, DLTensor* const* inputs,
                      DLTensor* const* outputs, double* seconds) {
  TUNEC_RETURN_IF_ERROR(CheckFile(executable));
  TUNEC_RETURN_IF_ERROR(
      CollectAll(executable, executable.executable->DeviceNumber(), inputs, outputs));
  TUNEC_ASSIGN(const std::vector<double> steps,
               executable.executable->ProfileRun(tensors.from.data, tensors.to.data,
                                                 tensors.Options(nullptr, RunReturn::kDone)));
  std::ranges::copy(steps, seconds);
  return {};
}

/// The texts of tunec_notes, and of tunec_report_json for dynamic-shape models. Each text is valid
/// until this thread's next call of the same function.
thread_local std::string notes_text;
thread_local std::string report_text;

}  // namespace
}  // namespace tunec

extern "C" {

void tunec_release(tunec_executable* executable) {
  tunec::Guarded([&]() -> Status {
    delete executable;
    return {};
  });
}

size_t tunec_num_inputs(const tunec_executable* executable) {
  return executable == nullptr ? 0 : tunec::InputsOf(*executable).size();
}
size_t tunec_num_outputs(const tunec_executable* executable) {
  return executable == nullptr ? 0 : tunec::OutputsOf(*executable).size();
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

const int64_t* tunec_input_order(const tunec_executable* executable, size_t index) {
  if (executable == nullptr) return nullptr;
  return tunec::AxesOf(tunec::OrderAt(tunec::InputOrders(*executable), index));
}
const int64_t* tunec_output_order(const tunec_executable* executable, size_t index) {
  if (executable == nullptr) return nullptr;
  return tunec::AxesOf(tunec::OrderAt(tunec::OutputOrders(*executable), index));
}

size_t tunec_input_bytes(const tunec_executable* executable, size_t index) {
  return tunec::SizeOfTensor(tunec::Input(executable, index));
}
size_t tunec_output_bytes(const tunec_executable* executable, size_t index) {
  return tunec::SizeOfTensor(tunec::Output(executable, index));
}
int tunec_input_index(const tunec_executable* executable, const char* name) {
  return executable == nullptr ? -1 : tunec::IndexOf(tunec::InputsOf(*executable), name);
}
int tunec_output_index(const tunec_executable* executable, const char* name) {
  return executable == nullptr ? -1 : tunec::IndexOf(tunec::OutputsOf(*executable), name);
}

size_t tunec_num_steps(const tunec_executable* executable) {
  if (executable == nullptr || executable->executable == nullptr) return 0;
  return executable->executable->StepNames().size();
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
    if (executable->any_shape)
      return tunec::Fail(ErrorCode::kUnsupported, "a dynamic-shape model has no steps to profile");
    if (executable->tuning)
      return tunec::Fail(ErrorCode::kUnsupported,
                         "the steps of a model that is tuned in the background can change: compile "
                         "it without the option 'background' to profile it");
    return tunec::ProfileTensors(*executable, inputs, outputs, seconds);
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
      TUNEC_ASSIGN(known, tunec::CopyKnownMembers(*options, "run_options", "options", "members"));
    }
    const auto returns = known.queued != 0 ? tunec::RunReturn::kQueued : tunec::RunReturn::kDone;
    return tunec::Run(executable, inputs, outputs, known.stream, returns);
  });
}

int tunec_wait(tunec_executable* executable) {
  return tunec::Guarded([&]() -> Status {
    if (executable == nullptr)
      return tunec::Fail(ErrorCode::kInvalidArgument, "the executable is null");
    if (executable->any_shape) return executable->any_shape->Wait();
    return executable->tuning ? executable->tuning->WaitForRuns() : executable->executable->Wait();
  });
}

int tunec_wait_tuning(const tunec_executable* executable, double seconds, int* ended) {
  return tunec::Guarded([&]() -> Status {
    if (executable == nullptr || ended == nullptr)
      return tunec::Fail(ErrorCode::kInvalidArgument, "{} is null",
                         executable == nullptr ? "the executable" : "ended");
    *ended = 1;
    if (!executable->tuning) return {};
    TUNEC_ASSIGN(const bool has_ended, executable->tuning->Wait(seconds));
    *ended = has_ended ? 1 : 0;
    return {};
  });
}

int tunec_stop_tuning(tunec_executable* executable) {
  return tunec::Guarded([&]() -> Status {
    if (executable == nullptr)
      return tunec::Fail(ErrorCode::kInvalidArgument, "the executable is null");
    if (executable->tuning) executable->tuning->Stop();
    return {};
  });
}

const char* tunec_notes(const tunec_executable* executable) {
  tunec::notes_text.clear();
  tunec::Guarded([&]() -> Status {
    if (executable == nullptr) return {};
    if (!executable->note.empty()) tunec::notes_text += executable->note + "\n";
    if (executable->any_shape) return {};
    for (const std::string& note : executable->Current()->Notes()) tunec::notes_text += note + "\n";
    return {};
  });
  return tunec::notes_text.c_str();
}

uint64_t tunec_outside_indices(const tunec_executable* executable) {
  uint64_t count = 0;
  tunec::Guarded([&]() -> Status {
    if (executable == nullptr) return {};
    if (executable->any_shape) {
      count = static_cast<uint64_t>(executable->any_shape->CountOutside());
      return {};
    }
    count = static_cast<uint64_t>(executable->tuning ? executable->tuning->CountOutside()
                                                     : executable->executable->CountOutside());
    return {};
  });
  return count;
}

const char* tunec_report_json(const tunec_executable* executable) {
  const char* report = nullptr;
  tunec::Guarded([&]() -> Status {
    if (executable == nullptr) return {};
    if (executable->any_shape) tunec::report_text = executable->any_shape->Report();
    if (executable->tuning) tunec::report_text = executable->tuning->Report();
    report = executable->executable ? executable->report.c_str() : tunec::report_text.c_str();
    return {};
  });
  return report;
}

int tunec_output_shapes(tunec_executable* executable, const DLTensor* const* inputs,
                        int64_t* const* shapes) {
  return tunec::Guarded([&] { return tunec::OutputShapes(executable, inputs, shapes); });
}

const char* tunec_error_message(void) { return tunec::LatestMessage(); }

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
