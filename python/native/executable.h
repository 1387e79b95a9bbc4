// A compiled model as a Python object that is called.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/tunec.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "python/native/borrow.h"
#include "python/native/graph_source.h"
#include "python/native/kept_tensors.h"
#include "python/native/results.h"
#include "python/native/strides.h"

namespace tunec::python {

class Executable {
 public:
  /// `kept`: tensors whose memory the executable reads, its weights.
  explicit Executable(tunec_executable* owned, KeptTensors kept = {});

  /// Runs once, without the interpreter's lock. Inputs by position, or by name in `named`; outputs
  /// into `out` (a tensor, or a sequence of one for each output, of which those that are None are
  /// made), or new ones. Returns the output, or a tuple of those of a model that has not exactly
  /// one. Inputs that are dense in another order than the executable's are run by one that is
  /// compiled for theirs, which is kept; what is not dense, or cannot be compiled for, is copied.
  /// A run of a GPU's tensors of a library with DLPack's table (torch's) goes into that library's
  /// current stream, and is not waited for where all of them lie on the GPU.
  nanobind::object Call(const nanobind::args& inputs, const nanobind::kwargs& named);
  /// The same, with the seconds that each step took: (results, [(step, seconds), ...]).
  nanobind::object Profile(const nanobind::args& inputs, const nanobind::kwargs& named);

  /// Whose exceptions a call raises that compiles.
  void SetSource(std::shared_ptr<GraphSource> source) { source_ = std::move(source); }

  /// For Python's garbage collector.
  int Visit(visitproc visit, void* arg) const;
  void Clear();

  /// (name, dtype's name, shape) for each.
  nanobind::object Inputs() const;
  nanobind::object Outputs() const;
  std::string Report() const { return tunec_report_json(executable_.get()); }
  std::string Notes() const { return tunec_notes(executable_.get()); }
  uint64_t OutsideIndices() const { return tunec_outside_indices(executable_.get()); }
  /// The layouts of inputs that there are other executables for, as the option "layouts" has them.
  nanobind::object OtherLayouts() const;

 private:
  using Orders = std::vector<AxisOrder>;  // of all inputs
  // What a call has gathered.
  struct Tensors {
    std::vector<nanobind::object> copies;  // of inputs that lie otherwise
    std::vector<Borrowed> inputs;
    std::vector<Borrowed> outputs;
    std::vector<DLTensor*> from;
    std::vector<DLTensor*> to;
    nanobind::object results;
    std::vector<std::vector<int64_t>> shapes;  // of the outputs, where sizes are open
    // Of the first input that has one, a GPU's before others.
    const DlpackExchange* exchange = nullptr;
    DLDevice device = {kDLCPU, 0};
    tunec_executable* runner = nullptr;  // this executable, or another for inputs that lie so
  };
  // The model compiled for other orders of its inputs; or why it was not.
  struct Other {
    std::shared_ptr<tunec_executable> executable;
    std::string refusal;
  };
  tunec_run_options OptionsOf(const Tensors& tensors) const;
  Tensors Gather(const nanobind::args& inputs, const nanobind::kwargs& named);
  std::vector<nanobind::handle> InOrder(const nanobind::args& inputs,
                                        const nanobind::kwargs& named) const;
  void TakeInputs(const std::vector<nanobind::handle>& ordered, Tensors& tensors);
  bool IsOfInput(size_t index, const DLTensor& tensor) const;
  const Other& CompiledFor(const Orders& orders);
  Other Compile(const Orders& orders) const;
  void RunOtherwise(const std::vector<nanobind::handle>& ordered, Tensors& tensors);
  void CopyInput(size_t index, nanobind::handle object, const std::string& why, Tensors& tensors);
  void MakeOutputs(nanobind::handle out, Tensors& tensors);
  void ResolveShapes(Tensors& tensors) const;
  nanobind::object MakeOutput(size_t index, const Tensors& tensors);
  void CheckRun(int status) const;
  void WarnOfCopy(size_t index, const DLTensor& tensor, const std::string& why);

  KeptTensors kept_;  // goes after what reads it
  std::shared_ptr<tunec_executable> executable_;
  std::vector<std::string> input_names_;  // quoted in messages: input 'x'
  std::vector<std::string> output_names_;
  std::vector<Result> results_;
  Orders input_orders_;
  std::vector<bool> warned_;        // of a copied input
  std::map<Orders, Other> others_;  // guarded by the interpreter's lock
  std::unique_ptr<std::mutex> compiling_ = std::make_unique<std::mutex>();
  bool any_size_ = false;  // the outputs' shapes follow from the inputs'
  std::shared_ptr<GraphSource> source_;
};

}  // namespace tunec::python
