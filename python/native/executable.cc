#include "python/native/executable.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "python/native/compile.h"
#include "python/native/errors.h"

namespace nb = nanobind;

namespace tunec::python {
namespace {

void Release(tunec_executable* executable) {
  // Releasing joins threads and frees memory; other Python threads may run meanwhile.
  const nb::gil_scoped_release unlocked;
  tunec_release(executable);
}

// Largest number of combinations of input layouts, besides the model's own, for which a compilation
// is tried. For further combinations, inputs are copied.
constexpr size_t kMostOthers = 4;

nb::object Described(size_t count, const std::function<nb::object(size_t)>& describe) {
  nb::list specs;
  for (size_t i = 0; i < count; ++i) specs.append(describe(i));
  return nb::tuple(specs);
}

nb::object Describe(const char* name, DLDataType type, int ndim, const int64_t* shape) {
  nb::list sizes;
  for (const int64_t size : std::span(shape, static_cast<size_t>(ndim))) sizes.append(size);
  return nb::make_tuple(name, NameOf(type), nb::tuple(sizes));
}

bool IsGpu(DLDevice device) { return device.device_type == kDLCUDA; }

[[noreturn]] void WrongCount(size_t given, const std::vector<std::string>& names,
                             const char* what) {
  std::string message =
      "got " + std::to_string(given) + " " + what + "s, expected " + std::to_string(names.size());
  for (size_t i = 0; i < names.size(); ++i) message += (i == 0 ? ": " : ", ") + names[i];
  Raise(TUNEC_INVALID_ARGUMENT, message);
}

}  // namespace

Executable::Executable(tunec_executable* owned, HeldTensors held)
    : held_(std::move(held)), executable_(owned, Release) {
  for (size_t i = 0; i < tunec_num_inputs(owned); ++i) {
    input_names_.push_back("input '" + std::string(tunec_input_name(owned, i)) + "'");
    input_orders_.push_back(OrderOf(tunec_input_order(owned, i), tunec_input_ndim(owned, i)));
  }
  for (size_t i = 0; i < tunec_num_outputs(owned); ++i) {
    output_names_.push_back("output '" + std::string(tunec_output_name(owned, i)) + "'");
    results_.emplace_back(tunec_output_type(owned, i), tunec_output_ndim(owned, i),
                          tunec_output_shape(owned, i),
                          OrderOf(tunec_output_order(owned, i), tunec_output_ndim(owned, i)));
  }
  for (size_t i = 0; i < output_names_.size(); ++i) {
    const std::span shape(tunec_output_shape(owned, i),
                          static_cast<size_t>(tunec_output_ndim(owned, i)));
    any_size_ = any_size_ || std::ranges::any_of(shape, [](int64_t size) { return size < 0; });
  }
  warned_.resize(input_names_.size());
}

nb::object Executable::Call(const nb::args& inputs, const nb::kwargs& named) {
  Tensors tensors = Gather(inputs, named);
  const tunec_run_options options = OptionsOf(tensors);
  int status = TUNEC_OK;
  {
    const nb::gil_scoped_release unlocked;
    status =
        tunec_run_with_options(tensors.runner, tensors.from.data(), tensors.to.data(), &options);
  }
  Check(status);
  return tensors.results;
}

// Returns the options of a run. If an input is a GPU tensor of a library whose DLPack table has
// `current_stream`, the run goes into this stream, after earlier work of the stream. Such a run is
// queued and not waited for if all tensors are on a GPU.
tunec_run_options Executable::OptionsOf(const Tensors& tensors) const {
  tunec_run_options options = {.size = sizeof(tunec_run_options), .stream = nullptr, .queued = 0};
  if (!IsGpu(tensors.device) || tensors.exchange->current_stream == nullptr) return options;
  if (tensors.exchange->current_stream(tensors.device.device_type, tensors.device.device_id,
                                       &options.stream) != 0)
    throw nb::python_error();
  // CUDA libraries denote the default stream by 0, DLPack by 1.
  if (options.stream == nullptr) options.stream = reinterpret_cast<void*>(1);
  const auto is_on_gpu = [](const DLTensor* tensor) { return IsGpu(tensor->device); };
  options.queued =
      std::ranges::all_of(tensors.from, is_on_gpu) && std::ranges::all_of(tensors.to, is_on_gpu);
  return options;
}

nb::object Executable::Profile(const nb::args& inputs, const nb::kwargs& named) {
  Tensors tensors = Gather(inputs, named);
  std::vector<double> seconds(tunec_num_steps(tensors.runner));
  int status = TUNEC_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tunec_profile(tensors.runner, tensors.from.data(), tensors.to.data(), seconds.data());
  }
  Check(status);
  nb::list steps;
  for (size_t i = 0; i < seconds.size(); ++i)
    steps.append(nb::make_tuple(tunec_step_name(tensors.runner, i), seconds[i]));
  return nb::make_tuple(tensors.results, steps);
}

bool Executable::WaitTuning(std::optional<double> timeout) const {
  constexpr double kPollSeconds = 0.1;  // between checks for Ctrl-C
  double left = timeout.value_or(std::numeric_limits<double>::infinity());
  while (true) {
    int ended = 0;
    int status = TUNEC_OK;
    {
      const nb::gil_scoped_release unlocked;
      const double wait = left < kPollSeconds ? left : kPollSeconds;
      status = tunec_wait_tuning(executable_.get(), wait, &ended);
    }
    Check(status);
    left -= kPollSeconds;
    if (ended != 0 || !(left > 0)) return ended != 0;  // NaN is no time
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

void Executable::StopTuning() {
  int status = TUNEC_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tunec_stop_tuning(executable_.get());
  }
  Check(status);
}

nb::object Executable::Inputs() const {
  tunec_executable* of = executable_.get();
  return Described(tunec_num_inputs(of), [of](size_t i) {
    return Describe(tunec_input_name(of, i), tunec_input_type(of, i), tunec_input_ndim(of, i),
                    tunec_input_shape(of, i));
  });
}

nb::object Executable::Outputs() const {
  tunec_executable* of = executable_.get();
  return Described(tunec_num_outputs(of), [of](size_t i) {
    return Describe(tunec_output_name(of, i), tunec_output_type(of, i), tunec_output_ndim(of, i),
                    tunec_output_shape(of, i));
  });
}

std::vector<nb::handle> Executable::InOrder(const nb::args& inputs, const nb::kwargs& named) const {
  std::vector<nb::handle> ordered(inputs.begin(), inputs.end());
  if (ordered.size() > input_names_.size()) WrongCount(ordered.size(), input_names_, "input");
  size_t given = ordered.size();
  ordered.resize(input_names_.size());
  for (const auto& [key, value] : named) {
    const auto name = nb::cast<std::string>(key);
    if (name == "out") continue;
    const int index = tunec_input_index(executable_.get(), name.c_str());
    if (index < 0) Raise(TUNEC_INVALID_ARGUMENT, "the model has no input '" + name + "'");
    nb::handle& argument = ordered[static_cast<size_t>(index)];
    if (argument.is_valid())
      Raise(TUNEC_INVALID_ARGUMENT, "input '" + name + "' is given by position and by name");
    argument = value;
    ++given;
  }
  if (given != ordered.size()) WrongCount(given, input_names_, "input");
  return ordered;
}

Executable::Tensors Executable::Gather(const nb::args& inputs, const nb::kwargs& named) {
  Tensors tensors;
  tensors.runner = executable_.get();
  TakeInputs(InOrder(inputs, named), tensors);
  nb::object out = !named.empty() && named.contains("out") ? nb::object(named["out"]) : nb::none();
  for (Borrowed& input : tensors.inputs) tensors.from.push_back(&input.tensor());
  if (any_size_) ResolveShapes(tensors);
  MakeOutputs(out, tensors);
  for (Borrowed& output : tensors.outputs) tensors.to.push_back(&output.tensor());
  return tensors;
}

void Executable::TakeInputs(const std::vector<nb::handle>& ordered, Tensors& tensors) {
  tensors.inputs.reserve(ordered.size());
  bool all_in_order = true;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const Borrowed& input = tensors.inputs.emplace_back(ordered[i], Access::kRead, input_names_[i]);
    all_in_order = all_in_order && IsDenseIn(input.tensor(), input_orders_[i]);
    // New outputs are made on the GPU of the first input that has a table and is on a GPU.
    const DLDevice device = input.tensor().device;
    if (tensors.exchange != nullptr && (IsGpu(tensors.device) || !IsGpu(device))) continue;
    const DlpackExchange* exchange = ExchangeOf(ordered[i].ptr());
    if (exchange == nullptr) continue;
    tensors.exchange = exchange;
    tensors.device = device;
  }
  if (!all_in_order) RunInOtherLayout(ordered, tensors);
}

// Chooses the executable that is compiled for the axis orders of these inputs, or the model's own
// if there is none. Copies each input that is not dense in the order that the executable expects.
void Executable::RunInOtherLayout(const std::vector<nb::handle>& ordered, Tensors& tensors) {
  Orders orders = input_orders_;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const DLTensor& tensor = tensors.inputs[i].tensor();
    const std::optional<AxisOrder> order = DenseOrder(tensor);
    if (!IsDenseIn(tensor, orders[i]) && order && IsOfInput(i, tensor)) orders[i] = *order;
  }
  std::string rejection;
  if (orders != input_orders_) {
    const Other& other = CompiledFor(orders);
    rejection = other.rejection;
    if (other.executable)
      tensors.runner = other.executable.get();
    else
      orders = input_orders_;
  }
  for (size_t i = 0; i < ordered.size(); ++i)
    if (!IsDenseIn(tensors.inputs[i].tensor(), orders[i]))
      CopyInput(i, ordered[i], rejection, tensors);
}

// Tests if a tensor has the type and shape of an input. Returns false if a size of the input is
// dynamic. No code is compiled for the axis order of tensors that fail this test.
bool Executable::IsOfInput(size_t index, const DLTensor& tensor) const {
  const tunec_executable* of = executable_.get();
  const DLDataType type = tunec_input_type(of, index);
  if (type.code != tensor.dtype.code || type.bits != tensor.dtype.bits) return false;
  const std::span given(tensor.shape, static_cast<size_t>(tensor.ndim));
  const int ndim = tunec_input_ndim(of, index);
  return std::ranges::equal(given,
                            std::span(tunec_input_shape(of, index), static_cast<size_t>(ndim)));
}

const Executable::Other& Executable::CompiledFor(const Orders& orders) {
  if (const auto known = others_.find(orders); known != others_.end()) return known->second;
  static const Other too_many = {nullptr, "the limit of executables for other layouts is reached"};
  std::unique_lock one_at_a_time(*compiling_, std::defer_lock);
  {
    const nb::gil_scoped_release unlocked;
    one_at_a_time.lock();
  }
  if (const auto known = others_.find(orders); known != others_.end()) return known->second;
  if (others_.size() >= kMostOthers) return too_many;
  return others_[orders] = Compile(orders);
}

Executable::Other Executable::Compile(const Orders& orders) const {
  nb::dict layouts;
  for (size_t i = 0; i < orders.size(); ++i)
    if (!orders[i].empty()) layouts[tunec_input_name(executable_.get(), i)] = Text(orders[i]);
  for (size_t i = 0; i < results_.size(); ++i)
    if (!results_[i].order().empty())
      layouts[tunec_output_name(executable_.get(), i)] = Text(results_[i].order());
  Other other;
  other.executable.reset(CompileLayouts(executable_.get(), layouts, other.rejection), Release);
  return other;
}

nb::object Executable::OtherLayouts() const {
  nb::list all;
  for (const auto& [orders, other] : others_) {
    if (!other.executable) continue;
    nb::dict layouts;
    for (size_t i = 0; i < orders.size(); ++i)
      layouts[tunec_input_name(executable_.get(), i)] = Text(orders[i]);
    all.append(layouts);
  }
  return all;
}

void Executable::CopyInput(size_t index, nb::handle object, const std::string& why,
                           Tensors& tensors) {
  WarnOfCopy(index, tensors.inputs[index].tensor(), why);
  tensors.copies.push_back(CopyInOrder(object, input_orders_[index]));
  tensors.inputs[index] = Borrowed(tensors.copies.back(), Access::kRead, input_names_[index]);
}

void Executable::WarnOfCopy(size_t index, const DLTensor& tensor, const std::string& why) {
  if (warned_[index]) return;
  warned_[index] = true;
  std::string strides;
  for (const int64_t stride : StridesOf(tensor))
    strides += (strides.empty() ? "" : ", ") + std::to_string(stride);
  const AxisOrder& order = input_orders_[index];
  const std::string message = input_names_[index] + " has strides (" + strides +
                              ") and is copied into " +
                              (order.empty() ? "row-major order" : "the order " + Text(order)) +
                              ", in this and later runs" + (why.empty() ? "" : ": " + why);
  const nb::object category = nb::module_::import_("tunec._errors").attr("CopyWarning");
  if (PyErr_WarnEx(category.ptr(), message.c_str(), 1) != 0) throw nb::python_error();
}

// Sets the shapes of the outputs. Releases the interpreter's lock, because the library may compile
// here or wait for another thread that compiles, and compiling may call Python.
void Executable::ResolveShapes(Tensors& tensors) const {
  std::vector<int64_t*> shapes;
  for (size_t i = 0; i < output_names_.size(); ++i) {
    const int dimensions = tunec_output_ndim(executable_.get(), i);
    shapes.push_back(tensors.shapes.emplace_back(static_cast<size_t>(dimensions)).data());
  }
  int status = TUNEC_OK;
  {
    const nb::gil_scoped_release unlocked;
    status = tunec_output_shapes(executable_.get(), tensors.from.data(), shapes.data());
  }
  Check(status);
}

nb::object Executable::MakeOutput(size_t index, const Tensors& tensors) {
  if (!any_size_)
    return tensors.exchange != nullptr ? results_[index].MakeWith(*tensors.exchange, tensors.device)
                                       : results_[index].MakeArray();
  const std::vector<int64_t>& shape = tensors.shapes[index];
  Result result(tunec_output_type(executable_.get(), index), static_cast<int>(shape.size()),
                shape.data(), results_[index].order());
  return tensors.exchange != nullptr ? result.MakeWith(*tensors.exchange, tensors.device)
                                     : result.MakeArray();
}

void Executable::MakeOutputs(nb::handle out, Tensors& tensors) {
  const size_t count = output_names_.size();
  tensors.outputs.reserve(count);
  const bool given = !out.is_none();
  const bool several = given && (nb::isinstance<nb::tuple>(out) || nb::isinstance<nb::list>(out));
  if (given && !several && count != 1) WrongCount(1, output_names_, "output");
  if (several && nb::len(out) != count) WrongCount(nb::len(out), output_names_, "output");
  nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    nb::object one = !given ? nb::none() : several ? nb::object(out[i]) : nb::borrow(out);
    if (one.is_none()) one = MakeOutput(i, tensors);
    tensors.outputs.emplace_back(one, Access::kWrite, output_names_[i]);
    PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(i), one.release().ptr());
  }
  tensors.results = count == 1 ? nb::object(all[0]) : all;
}

}  // namespace tunec::python
