// A compiled model as a callable Python object.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/tunec.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "python/native/borrow.h"
#include "python/native/held_tensors.h"
#include "python/native/results.h"
#include "python/native/strides.h"

namespace tunec::python {

class Executable {
 public:
  /// `held` holds the weights whose memory the executable reads.
  explicit Executable(tunec_executable* owned, HeldTensors held = {});

  /// Runs once, without the interpreter's lock. Inputs are given by position, or by name in
  /// `named`. `out` of `named` is one tensor, or a tuple or list with one tensor per output. A new
  /// tensor is made for each None or if `out` is missing. Returns the output if the model has
  /// exactly one, else a tuple.
  ///
  /// If inputs are dense in another axis order, the model is compiled for that order if possible,
  /// and the code is retained. Inputs that are not dense, or for whose order no code is compiled,
  /// are copied. If an input is a GPU tensor of a library with DLPack's table (torch), the run goes
  /// into the library's current stream. Such a call does not wait for the run if all tensors are on
  /// the GPU.
  nanobind::object Call(const nanobind::args& inputs, const nanobind::kwargs& named);
  /// Runs once and also returns the seconds of each step: (results, [(step, seconds), ...]).
  nanobind::object Profile(const nanobind::args& inputs, const nanobind::kwargs& named);

  /// Visits the held Python objects, for the garbage collector. They are never cleared, because the
  /// code reads the tensors' memory. A reference cycle from a held tensor to the executable goes
  /// through a dict, which the collector empties.
  int Visit(visitproc visit, void* arg) const { return held_.Visit(visit, arg); }

  /// Return (name, name of the dtype, shape) of each input or output.
  nanobind::object Inputs() const;
  nanobind::object Outputs() const;
  std::string Report() const { return tunec_report_json(executable_.get()); }
  std::string Notes() const { return tunec_notes(executable_.get()); }
  /// Waits without the interpreter's lock for the end of tuning in the background, until Ctrl-C, or
  /// for a number of seconds (None: no limit). Returns whether tuning has ended.
  bool WaitTuning(std::optional<double> timeout) const;
  void StopTuning();
  uint64_t OutsideIndices() const { return tunec_outside_indices(executable_.get()); }
  /// Returns the input layouts for which separate code exists, in the spelling of the option
  /// "layouts".
  nanobind::object OtherLayouts() const;

 private:
  using Orders = std::vector<AxisOrder>;  // axis orders of all inputs
  // The inputs, outputs and results of one call, and the executable that runs.
  struct Tensors {
    std::vector<nanobind::object> copies;  // copies of inputs in the executable's order
    std::vector<Borrowed> inputs;
    std::vector<Borrowed> outputs;
    std::vector<DLTensor*> from;
    std::vector<DLTensor*> to;
    nanobind::object results;
    std::vector<std::vector<int64_t>> shapes;  // shapes of the outputs, if dynamic
    // DLPack table (null: none) and device of the first GPU input with a table, or if there is no
    // such input, of the first input with a table.
    const DlpackExchange* exchange = nullptr;
    DLDevice device = {kDLCPU, 0};
    tunec_executable* runner = nullptr;  // executable for the orders of the inputs
  };
  // The model compiled for other axis orders of inputs, or the reason why there is no such code.
  struct Other {
    std::shared_ptr<tunec_executable> executable;
    std::string rejection;
  };
  tunec_run_options OptionsOf(const Tensors& tensors) const;
  Tensors Gather(const nanobind::args& inputs, const nanobind::kwargs& named);
  std::vector<nanobind::handle> InOrder(const nanobind::args& inputs,
                                        const nanobind::kwargs& named) const;
  void TakeInputs(const std::vector<nanobind::handle>& ordered, Tensors& tensors);
  bool IsOfInput(size_t index, const DLTensor& tensor) const;
  const Other& CompiledFor(const Orders& orders);
  Other Compile(const Orders& orders) const;
  void RunInOtherLayout(const std::vector<nanobind::handle>& ordered, Tensors& tensors);
  void CopyInput(size_t index, nanobind::handle object, const std::string& why, Tensors& tensors);
  void MakeOutputs(nanobind::handle out, Tensors& tensors);
  void ResolveShapes(Tensors& tensors) const;
  nanobind::object MakeOutput(size_t index, const Tensors& tensors);
  void WarnOfCopy(size_t index, const DLTensor& tensor, const std::string& why);

  HeldTensors held_;  // destroyed after executable_, which reads its memory
  std::shared_ptr<tunec_executable> executable_;
  std::vector<std::string> input_names_;  // quoted in messages: input 'x'
  std::vector<std::string> output_names_;
  std::vector<Result> results_;
  Orders input_orders_;
  std::vector<bool> warned_;        // per input: a CopyWarning was given
  std::map<Orders, Other> others_;  // guarded by the interpreter's lock
  std::unique_ptr<std::mutex> compiling_ = std::make_unique<std::mutex>();
  bool any_size_ = false;  // shapes of outputs depend on those of inputs
};

}  // namespace tunec::python
