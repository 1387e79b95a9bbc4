#include "runtime/cuda/cuda_sequence.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace tunec {
namespace {

class CudaSequence final : public DeviceSequence {
 public:
  CudaSequence(Gpu& gpu, CudaTimer& timer, std::vector<std::unique_ptr<CudaKernel>> kernels)
      : gpu_(gpu), timer_(timer), kernels_(std::move(kernels)), changed_(kernels_.size(), 0) {}
  ~CudaSequence() override { DestroyGraph(); }
  CudaSequence(const CudaSequence&) = delete;
  CudaSequence& operator=(const CudaSequence&) = delete;

  // Builds the graph. If there is nothing to launch, or if building fails, exec_ stays null.
  void MakeGraph() {
    const Gpu::Current current(gpu_);
    const Status made = BuildGraph();
    if (made) return;
    DestroyGraph();
    note_ = fmt::format("kernels are launched one by one: {}", made.error().message);
  }

  void SetArgument(size_t kernel, size_t argument, void* address) override {
    if (kernels_[kernel]->argument(argument) == address) return;
    kernels_[kernel]->SetArgument(argument, address);
    changed_[kernel] = 1;
  }

  void Start() override {
    if (exec_ == nullptr) {
      for (const auto& kernel : kernels_) kernel->Start();
      return;
    }
    if (gpu_.Failed()) return;
    const Gpu::Current current(gpu_);
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (changed_[i] == 0) continue;
      Update(i);
      changed_[i] = 0;
    }
    if (gpu_.Failed()) return;
    gpu_.RecordLaunch(gpu_.driver().GraphLaunch(exec_, gpu_.stream()), name_);
  }

  Result<double> Seconds(size_t kernel) override { return kernels_[kernel]->Seconds(1); }
  Result<double> SecondsOfAll(int times) override {
    return timer_.Seconds(times, [this] { Start(); });
  }
  std::string Note() const override { return note_; }

 private:
  Status BuildGraph() {
    TUNEC_RETURN_IF_ERROR(Check(gpu_.driver().GraphCreate(&graph_, /*flags=*/0), "begin a graph"));
    CuGraphNode before = nullptr;
    size_t count = 0;
    for (const auto& kernel : kernels_) {
      std::vector<CuGraphNode>& nodes = nodes_.emplace_back();
      for (const CudaKernel::Launch& launch : kernel->launches()) {
        CuGraphNode node = nullptr;
        TUNEC_RETURN_IF_ERROR(
            Check(gpu_.driver().GraphAddKernelNode(&node, graph_, &before, count > 0 ? 1 : 0,
                                                   &launch.parameters),
                  "add a kernel to a graph"));
        nodes.push_back(node);
        before = node;
        ++count;
      }
    }
    if (count == 0) return {};
    name_ = fmt::format("a graph of {} launches from {} on", count, FirstSymbol());
    return Check(gpu_.driver().GraphInstantiateWithFlags(&exec_, graph_, /*flags=*/0),
                 "prepare a graph");
  }

  Status Check(CuResult result, std::string_view what) { return gpu_.Check(result, what); }

  std::string_view FirstSymbol() const {
    for (const auto& kernel : kernels_)
      if (!kernel->launches().empty()) return kernel->launches().front().symbol;
    return "";
  }

  void Update(size_t kernel) {
    const std::vector<CudaKernel::Launch>& launches = kernels_[kernel]->launches();
    for (size_t i = 0; i < launches.size(); ++i) {
      gpu_.RecordRequest(gpu_.driver().GraphExecKernelNodeSetParams(exec_, nodes_[kernel][i],
                                                                    &launches[i].parameters),
                         "change pointers of a graph");
    }
  }

  void DestroyGraph() {
    if (gpu_.Hangs()) return;
    const Gpu::Current current(gpu_);
    if (exec_ != nullptr) gpu_.driver().GraphExecDestroy(exec_);
    if (graph_ != nullptr) gpu_.driver().GraphDestroy(graph_);
    exec_ = nullptr;
    graph_ = nullptr;
  }

  Gpu& gpu_;
  CudaTimer& timer_;
  const std::vector<std::unique_ptr<CudaKernel>> kernels_;
  std::vector<char> changed_;  // per kernel: 1 if pointers differ from the graph nodes
  std::vector<std::vector<CuGraphNode>> nodes_;  // nodes of each kernel's launches, owned by graph_
  CuGraph graph_ = nullptr;
  CuGraphExec exec_ = nullptr;
  std::string name_;  // for messages
  std::string note_;
};

}  // namespace

std::unique_ptr<DeviceSequence> RecordCudaSequence(
    Gpu& gpu, CudaTimer& timer, std::vector<std::unique_ptr<CudaKernel>> kernels) {
  auto sequence = std::make_unique<CudaSequence>(gpu, timer, std::move(kernels));
  sequence->MakeGraph();
  return sequence;
}

}  // namespace tunec
