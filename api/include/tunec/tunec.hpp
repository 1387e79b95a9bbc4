// The C++ interface of tunec: the C interface (tunec.h) with owners, spans and std::expected. The
// interface is only this header; a program links libtunec.so or libtunec_runtime.so.
//
//     auto session = tunec::Session::Compile("resnet50.onnx", R"({"threads": 2})");
//     if (!session) return Complain(session.error().message);
//     std::vector<tunec::Tensor> inputs = session->NewInputs();
//     std::ranges::copy(pixels, inputs[0].As<float>()->begin());
//     const auto outputs = session->Run(inputs);  // a std::expected of std::vector<tunec::Tensor>
//
// The header needs C++23 with std::expected: g++ 12 or later, or clang 19 or later. Everything that
// can fail returns a Result. The functions throw only std::bad_alloc; the compiling functions of
// Session also rethrow the exceptions of callbacks.
#ifndef TUNEC_TUNEC_HPP_
#define TUNEC_TUNEC_HPP_

#include <tunec/tunec.h>

#include <version>
#ifndef __cpp_lib_expected
#error "tunec.hpp needs std::expected: compile as C++23, with g++ 12 or clang 19 or later"
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tunec {
// The inline namespace changes the symbol names of these types. The library itself has types with
// the same names, such as tunec::Error.
inline namespace api1 {

/// The reason why a call failed.
struct Error {
  tunec_status status = TUNEC_INTERNAL_ERROR;
  std::string message;  // lower case, no final period
};

template <class T>
using Result = std::expected<T, Error>;

namespace detail {

inline std::unexpected<Error> WrongArgument(std::string message) {
  return std::unexpected(Error{TUNEC_INVALID_ARGUMENT, std::move(message)});
}

/// Converts the status of a C function to a Result. An error has this thread's error message.
inline Result<void> Check(int status) {
  if (status == TUNEC_OK) return {};
  return std::unexpected(Error{static_cast<tunec_status>(status), tunec_error_message()});
}

template <class T>
consteval DLDataType ElementTypeOf() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                "specialise tunec::kElementType for this type of elements");
  constexpr uint8_t kBool = 6;  // kDLBool, which some versions of dlpack.h do not declare
  uint8_t code = std::is_signed_v<T> ? kDLInt : kDLUInt;
  if (std::is_floating_point_v<T>) code = kDLFloat;
  if (std::is_same_v<T, bool>) code = kBool;
  return {code, 8 * sizeof(T), 1};
}

}  // namespace detail

/// DLPack's description of the type T: float is {kDLFloat, 32, 1}. It is defined for bool and for
/// number types of at most 8 bytes. Specialise kElementType for other types such as half precision:
///     template <>
///     inline constexpr DLDataType tunec::kElementType<half> = {kDLFloat, 16, 1};
template <class T>
inline constexpr DLDataType kElementType = detail::ElementTypeOf<T>();

/// The description of one input or output of a model. The results of Session's Inputs and Outputs
/// point into the executable and are valid until its release.
struct TensorSpec {
  std::string_view name;
  DLDataType type = {};
  std::span<const int64_t> shape;  // empty for a scalar
  size_t bytes = 0;                // size of all elements in bytes; 0 if a size is dynamic
  std::span<const int64_t> order;  // axes in the memory layout, outermost first; empty: row-major
};

/// A dense tensor on the CPU, described as a DLTensor. Its layout is row-major or the order of its
/// spec. The tensor owns its memory, or is a view of elements that the caller owns. A tensor may be
/// moved; the address of its DLTensor does not change. A moved-from tensor may only be destroyed or
/// assigned to.
class Tensor {
 public:
  /// Creates a tensor of zeros with the type, shape and order of `spec`. The tensor owns its
  /// memory, which is aligned to 64 bytes. Requires: no size is dynamic.
  explicit Tensor(const TensorSpec& spec) : state_(std::make_unique<State>()) {
    constexpr std::align_val_t kAlignment{State::kAlignment};
    const size_t bytes = std::max<size_t>(spec.bytes, 1);
    state_->storage.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
    std::fill_n(state_->storage.get(), bytes, std::byte{0});
    Describe(state_->storage.get(), spec.type, spec.shape, spec.bytes);
    if (!spec.order.empty()) SetOrder(spec.order);
  }

  /// Returns a view of the elements of a contiguous range. The elements must outlive the tensor and
  /// are not copied. For inputs and weights they may be const. Fails with TUNEC_INVALID_ARGUMENT if
  /// the shape has a negative size or another number of elements than the range.
  template <std::ranges::contiguous_range Elements>
  requires std::ranges::borrowed_range<Elements> && std::ranges::sized_range<Elements>
  static Result<Tensor> View(Elements&& elements, std::span<const int64_t> shape) {
    using Element = std::ranges::range_value_t<Elements>;
    const auto count = static_cast<size_t>(std::ranges::size(elements));
    if (!HasElements(shape, count))
      return detail::WrongArgument("the shape of a tensor does not have its " +
                                   std::to_string(count) + " elements");
    Tensor tensor;
    // DLPack has no tensors of constants. Inputs and weights are only read; an output must not be a
    // view of constants (CheckWritable).
    void* data = const_cast<void*>(static_cast<const void*>(std::ranges::data(elements)));
    using Reference = std::ranges::range_reference_t<Elements>;
    tensor.state_->constant = std::is_const_v<std::remove_reference_t<Reference>>;
    tensor.Describe(data, kElementType<Element>, shape, count * sizeof(Element));
    return tensor;
  }

  DLDataType type() const { return state_->tensor.dtype; }
  std::span<const int64_t> shape() const { return state_->shape; }
  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(state_->tensor.data), state_->bytes};
  }
  /// Returns true for a view of const elements, which can be an input or a weight, but no output.
  bool constant() const { return state_ != nullptr && state_->constant; }
  /// Returns the elements in memory order. T may be const. Fails with TUNEC_INVALID_ARGUMENT if the
  /// elements are not of type T, or if the tensor is constant and T is not const.
  template <class T>
  Result<std::span<T>> As() const {
    if (constant() && !std::is_const_v<T>)
      return detail::WrongArgument("the tensor's elements are constants");
    constexpr DLDataType kWanted = kElementType<std::remove_const_t<T>>;
    const DLDataType given = type();
    if (given.code != kWanted.code || given.bits != kWanted.bits || given.lanes != kWanted.lanes)
      return detail::WrongArgument("the tensor's elements are of another type: DLPack's code " +
                                   std::to_string(given.code) + " with " +
                                   std::to_string(given.bits) + " bits");
    return std::span<T>(static_cast<T*>(state_->tensor.data), state_->bytes / sizeof(T));
  }
  /// Returns the DLPack description of the tensor. The tensor owns the DLTensor.
  DLTensor* dlpack() const { return state_ == nullptr ? nullptr : &state_->tensor; }

 private:
  /// The DLTensor with its shape and strides, at addresses that do not change.
  struct State {
    /// Bytes of a cache line and of the widest vector.
    static constexpr size_t kAlignment = 64;
    struct Free {
      void operator()(std::byte* data) const {
        ::operator delete (data, std::align_val_t{kAlignment});
      }
    };
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;  // empty: row-major
    size_t bytes = 0;
    bool constant = false;
    std::unique_ptr<std::byte, Free> storage;  // null: the caller owns the elements
    DLTensor tensor = {};
  };

  Tensor() : state_(std::make_unique<State>()) {}

  static bool HasElements(std::span<const int64_t> shape, size_t elements) {
    if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; })) return false;
    if (std::ranges::find(shape, 0) != shape.end()) return elements == 0;
    size_t count = 1;
    for (const int64_t size : shape) {
      if (count > elements / static_cast<size_t>(size))
        return false;  // the division avoids an overflow of the product
      count *= static_cast<size_t>(size);
    }
    return count == elements;
  }

  void Describe(void* data, DLDataType type, std::span<const int64_t> shape, size_t bytes) {
    state_->shape.assign(shape.begin(), shape.end());
    state_->bytes = bytes;
    state_->tensor.data = data;
    state_->tensor.device.device_type = kDLCPU;
    state_->tensor.dtype = type;
    state_->tensor.ndim = static_cast<int32_t>(shape.size());
    state_->tensor.shape = state_->shape.data();
  }

  void SetOrder(std::span<const int64_t> order) {
    state_->strides.resize(order.size());
    int64_t stride = 1;
    for (const int64_t axis : std::views::reverse(order)) {
      state_->strides[static_cast<size_t>(axis)] = stride;
      stride *= state_->shape[static_cast<size_t>(axis)];
    }
    state_->tensor.strides = state_->strides.data();
  }

  std::unique_ptr<State> state_;
};

/// Functions that are called in the thread that compiles. Each may be empty. An exception of a
/// function cancels the compilation. The compiling function of Session rethrows the exception.
struct Callbacks {
  std::function<void(const tunec_progress&)> progress;
  std::function<bool()> cancelled;            // true: stop; measured trials stay recorded
  std::function<void(std::string_view)> log;  // a line without a newline
};

namespace detail {

/// A converter of callbacks to C functions. No exception may cross the C interface: the first
/// exception is stored and cancels the compilation.
class CallbackBridge {
 public:
  explicit CallbackBridge(const Callbacks& callbacks) : callbacks_(callbacks) {}

  /// Returns C callbacks that point to this object.
  tunec_callbacks AsC() {
    tunec_callbacks functions = {};
    functions.size = sizeof functions;
    functions.user = this;
    if (callbacks_.progress) functions.progress = Progress;
    functions.cancelled = Cancelled;
    if (callbacks_.log) functions.log = Log;
    return functions;
  }

  void Rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  template <class Call>
  static void Guard(void* user, Call call) noexcept {
    auto& self = *static_cast<CallbackBridge*>(user);
    if (self.thrown_) return;
    try {
      call(self.callbacks_);
    } catch (...) {
      self.thrown_ = std::current_exception();
    }
  }

  static void Progress(void* user, const tunec_progress* progress) {
    tunec_progress known = {};  // members that an older library does not have stay zero
    const size_t size = std::min(progress->size, sizeof known);
    std::memcpy(&known, progress, size);
    known.size = size;
    Guard(user, [&](const Callbacks& callbacks) { callbacks.progress(known); });
  }
  static int Cancelled(void* user) {
    bool cancelled = false;
    Guard(user, [&](const Callbacks& callbacks) {
      cancelled = callbacks.cancelled && callbacks.cancelled();
    });
    return cancelled || static_cast<CallbackBridge*>(user)->thrown_ ? 1 : 0;
  }
  static void Log(void* user, const char* line) {
    Guard(user, [&](const Callbacks& callbacks) { callbacks.log(line); });
  }

  const Callbacks& callbacks_;
  std::exception_ptr thrown_;
};

}  // namespace detail

/// Options for loading a bundle.
struct LoadOptions {
  size_t threads = 0;  // threads of a run; 0: the number at build time, at most one per core
  bool share_threads = false;  // share one pool with models that set this and have as many threads
  std::string device = {};  // a GPU's number or UUID, or "cpu"; empty: the first GPU that runs the
                            // bundle, else the CPU
};

/// A compiled or loaded model. Thread safety: all const functions may be called from several
/// threads at once. A session may be moved. A moved-from session may only be destroyed or assigned
/// to. A session must not be moved, assigned to or destroyed during a call of another function.
class Session {
 public:
  /// Compiles the model file. `options` is empty or a JSON object. See tunec_compile for the keys
  /// and their meanings.
  static Result<Session> Compile(const std::filesystem::path& model,
                                 const std::string& options = "", const Callbacks& callbacks = {}) {
    return Make(callbacks, [&](const tunec_callbacks* functions, tunec_executable** out) {
      return tunec_compile_with_callbacks(model.c_str(), options.c_str(), functions, out);
    });
  }

  /// Loads a bundle that `tunec build` wrote (see tunec_load). A program that loads its models and
  /// does not compile may link libtunec_runtime.so, which has no compiler.
  static Result<Session> Load(const std::filesystem::path& bundle,
                              const LoadOptions& options = {}) {
    tunec_load_options known = {};
    known.size = sizeof known;
    known.threads = options.threads;
    known.share_threads = options.share_threads ? 1 : 0;
    known.device = options.device.empty() ? nullptr : options.device.c_str();
    tunec_executable* made = nullptr;
    const Result<void> loaded = detail::Check(tunec_load(bundle.c_str(), &known, &made));
    Owner executable(made);
    if (!loaded) return std::unexpected(loaded.error());
    return Session(std::move(executable));
  }

  /// Compiles a model in memory; the bytes may be freed after the call. `format` is "onnx" or
  /// "graph". If it is empty, the format is detected from the bytes. See tunec_compile_bytes.
  static Result<Session> CompileBytes(std::span<const std::byte> model,
                                      const std::string& format = "",
                                      const std::string& options = "",
                                      const Callbacks& callbacks = {}) {
    return Make(callbacks, [&](const tunec_callbacks* functions, tunec_executable** out) {
      // An empty span may have a null address, which the C function rejects.
      const void* bytes = model.empty() ? static_cast<const void*>("") : model.data();
      return tunec_compile_bytes(bytes, model.size(), format.empty() ? nullptr : format.c_str(),
                                 options.c_str(), functions, out);
    });
  }

  /// Compiles a .graph text whose weights are in memory. The keys of `weights` are the names that
  /// tunec_compile_graph describes. The memory that the tensors point to must stay valid and
  /// unchanged as long as the session.
  static Result<Session> CompileGraph(std::string_view text,
                                      const std::map<std::string, Tensor>& weights,
                                      const std::string& options = "",
                                      const Callbacks& callbacks = {}) {
    std::vector<const char*> names;
    std::vector<const DLTensor*> tensors;
    for (const auto& [name, tensor] : weights) {
      names.push_back(name.c_str());
      tensors.push_back(tensor.dlpack());
    }
    return Make(callbacks, [&](const tunec_callbacks* functions, tunec_executable** out) {
      return tunec_compile_graph(text.empty() ? "" : text.data(), text.size(), names.size(),
                                 names.data(), tensors.data(), options.c_str(), functions, out);
    });
  }

  std::vector<TensorSpec> Inputs() const {
    std::vector<TensorSpec> specs;
    for (size_t i = 0; i < tunec_num_inputs(get()); ++i)
      specs.push_back({tunec_input_name(get(), i), tunec_input_type(get(), i),
                       Shape(tunec_input_shape(get(), i), tunec_input_ndim(get(), i)),
                       tunec_input_bytes(get(), i),
                       Order(tunec_input_order(get(), i), tunec_input_ndim(get(), i))});
    return specs;
  }
  std::vector<TensorSpec> Outputs() const {
    std::vector<TensorSpec> specs;
    for (size_t i = 0; i < tunec_num_outputs(get()); ++i)
      specs.push_back({tunec_output_name(get(), i), tunec_output_type(get(), i),
                       Shape(tunec_output_shape(get(), i), tunec_output_ndim(get(), i)),
                       tunec_output_bytes(get(), i),
                       Order(tunec_output_order(get(), i), tunec_output_ndim(get(), i))});
    return specs;
  }
  /// Return the index of the input, or of the output, with this name; nullopt if there is none.
  std::optional<size_t> InputIndex(const std::string& name) const {
    return Index(tunec_input_index(get(), name.c_str()));
  }
  std::optional<size_t> OutputIndex(const std::string& name) const {
    return Index(tunec_output_index(get(), name.c_str()));
  }

  /// Return one tensor of zeros for each input, or for each output. Requires: no size is dynamic.
  std::vector<Tensor> NewInputs() const { return NewTensors(Inputs()); }
  std::vector<Tensor> NewOutputs() const { return NewTensors(Outputs()); }

  /// Runs the model once, with one tensor per input and output. tunec_run lists the requirements
  /// and the errors.
  Result<void> Run(std::span<DLTensor* const> inputs, std::span<DLTensor* const> outputs) const {
    if (auto right = CheckCounts(inputs.size(), outputs.size()); !right) return right;
    return detail::Check(tunec_run(get(), inputs.data(), outputs.data()));
  }
  /// Runs the model like the function above, with options such as a GPU's stream: see
  /// tunec_run_with_options.
  Result<void> Run(std::span<DLTensor* const> inputs, std::span<DLTensor* const> outputs,
                   const tunec_run_options& options) const {
    if (auto right = CheckCounts(inputs.size(), outputs.size()); !right) return right;
    return detail::Check(tunec_run_with_options(get(), inputs.data(), outputs.data(), &options));
  }
  /// Waits for queued runs: see tunec_wait.
  Result<void> Wait() const { return detail::Check(tunec_wait(get())); }
  Result<void> Run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
    if (auto right = CheckWritable(outputs); !right) return right;
    return Run(Pointers(inputs), Pointers(outputs));
  }
  /// Returns the shapes of the outputs for these inputs. If no size is dynamic, the shapes are
  /// those of Outputs().
  Result<std::vector<std::vector<int64_t>>> OutputShapes(std::span<const Tensor> inputs) const {
    if (auto right = CheckCounts(inputs.size(), tunec_num_outputs(get())); !right)
      return std::unexpected(std::move(right).error());
    std::vector<std::vector<int64_t>> shapes;
    std::vector<int64_t*> shape_pointers;
    for (const TensorSpec& spec : Outputs())
      shape_pointers.push_back(shapes.emplace_back(spec.shape.begin(), spec.shape.end()).data());
    const auto from = Pointers(inputs);
    auto known = detail::Check(tunec_output_shapes(get(), from.data(), shape_pointers.data()));
    if (!known) return std::unexpected(std::move(known).error());
    return shapes;
  }
  /// Runs the model once and returns the outputs as new tensors.
  Result<std::vector<Tensor>> Run(std::span<const Tensor> inputs) const {
    auto shapes = OutputShapes(inputs);
    if (!shapes) return std::unexpected(std::move(shapes).error());
    std::vector<TensorSpec> specs = Outputs();
    for (size_t i = 0; i < specs.size(); ++i) {
      specs[i].shape = (*shapes)[i];
      specs[i].bytes = specs[i].type.bits / 8;
      for (const int64_t size : specs[i].shape) specs[i].bytes *= static_cast<size_t>(size);
    }
    std::vector<Tensor> outputs = NewTensors(specs);
    if (auto ran = Run(inputs, outputs); !ran) return std::unexpected(std::move(ran).error());
    return outputs;
  }

  /// Returns the names of a run's steps (tunec_step_name). The list is empty for dynamic shapes.
  std::vector<std::string_view> StepNames() const {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < tunec_num_steps(get()); ++i) names.push_back(tunec_step_name(get(), i));
    return names;
  }
  /// Runs the model once and returns the time of each step in seconds.
  Result<std::vector<double>> Profile(std::span<const Tensor> inputs,
                                      std::span<const Tensor> outputs) const {
    if (auto right = CheckCounts(inputs.size(), outputs.size()); !right)
      return std::unexpected(std::move(right).error());
    if (auto right = CheckWritable(outputs); !right)
      return std::unexpected(std::move(right).error());
    std::vector<double> seconds(tunec_num_steps(get()));
    const auto from = Pointers(inputs);
    const auto to = Pointers(outputs);
    // The data of an empty vector may be null, which the C function rejects.
    double none = 0;
    double* times = seconds.empty() ? &none : seconds.data();
    if (auto ran = detail::Check(tunec_profile(get(), from.data(), to.data(), times)); !ran)
      return std::unexpected(std::move(ran).error());
    return seconds;
  }

  /// Waits at most `seconds` for the end of tuning in the background. Returns whether tuning has
  /// ended: see tunec_wait_tuning.
  Result<bool> WaitTuning(double seconds) const {
    int ended = 0;
    if (auto waited = detail::Check(tunec_wait_tuning(get(), seconds, &ended)); !waited)
      return std::unexpected(std::move(waited).error());
    return ended != 0;
  }
  /// Ends tuning in the background: see tunec_stop_tuning.
  Result<void> StopTuning() { return detail::Check(tunec_stop_tuning(get())); }

  /// Returns the report of the compilation as JSON. tunec_report_json says how long the text is
  /// valid.
  std::string_view Report() const {
    const char* report = tunec_report_json(get());
    return report == nullptr ? std::string_view() : report;
  }
  /// Returns the number of gather indices that were out of range in runs so far, except queued
  /// runs: see tunec_outside_indices.
  uint64_t OutsideIndices() const { return tunec_outside_indices(get()); }

  /// Returns notes for users about how the model runs, one per line: see tunec_notes.
  std::string Notes() const { return tunec_notes(get()); }

  /// Returns the executable for functions of tunec.h. The session owns the executable.
  tunec_executable* get() const { return executable_.get(); }

 private:
  struct Release {
    void operator()(tunec_executable* executable) const { tunec_release(executable); }
  };
  using Owner = std::unique_ptr<tunec_executable, Release>;

  explicit Session(Owner executable) : executable_(std::move(executable)) {}

  template <class Call>
  static Result<Session> Make(const Callbacks& callbacks, Call compile) {
    detail::CallbackBridge bridge(callbacks);
    const tunec_callbacks functions = bridge.AsC();
    tunec_executable* made = nullptr;
    const Result<void> compiled = detail::Check(compile(&functions, &made));
    Owner executable(made);
    bridge.Rethrow();
    if (!compiled) return std::unexpected(compiled.error());
    return Session(std::move(executable));
  }

  static std::span<const int64_t> Shape(const int64_t* sizes, int dimensions) {
    return {sizes, static_cast<size_t>(dimensions)};
  }
  static std::span<const int64_t> Order(const int64_t* axes, int dimensions) {
    return axes == nullptr ? std::span<const int64_t>() : Shape(axes, dimensions);
  }
  static std::optional<size_t> Index(int found) {
    if (found < 0) return std::nullopt;
    return static_cast<size_t>(found);
  }
  static std::vector<Tensor> NewTensors(const std::vector<TensorSpec>& specs) {
    std::vector<Tensor> tensors;
    tensors.reserve(specs.size());
    for (const TensorSpec& spec : specs) tensors.emplace_back(spec);
    return tensors;
  }
  static std::vector<DLTensor*> Pointers(std::span<const Tensor> tensors) {
    std::vector<DLTensor*> pointers;
    pointers.reserve(tensors.size());
    for (const Tensor& tensor : tensors) pointers.push_back(tensor.dlpack());
    return pointers;
  }

  /// Checks the numbers of tensors, because the C function receives arrays without a length.
  Result<void> CheckCounts(size_t inputs, size_t outputs) const {
    const size_t expected_inputs = tunec_num_inputs(get());
    const size_t expected_outputs = tunec_num_outputs(get());
    if (inputs == expected_inputs && outputs == expected_outputs) return {};
    return detail::WrongArgument(std::to_string(inputs) + " inputs and " + std::to_string(outputs) +
                                 " outputs given, expected " + std::to_string(expected_inputs) +
                                 " and " + std::to_string(expected_outputs));
  }
  static Result<void> CheckWritable(std::span<const Tensor> outputs) {
    if (std::ranges::none_of(outputs, &Tensor::constant)) return {};
    return detail::WrongArgument("an output is a view of constants");
  }

  Owner executable_;
};

}  // namespace api1
}  // namespace tunec

#endif  // TUNEC_TUNEC_HPP_
