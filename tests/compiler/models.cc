#include "tests/compiler/models.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "compiler/tuning/tasks.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "jit/cpu/detect_cpu.h"
#include "support/check.h"
#include "support/random.h"
#include "tests/networks/load_npz.h"

namespace tunec::testing {
namespace {

constexpr uint64_t kSeed = 7;  // the seed of tests/networks/expected_outputs.py

// A buffer that is aligned to the element size, but not to 64 bytes, as a caller's buffer may be.
class LooseBuffer {
 public:
  explicit LooseBuffer(const TensorSpec& spec)
      : bytes_(static_cast<size_t>(ElementCount(spec.shape)) * SizeOf(spec.type)),
        storage_(std::make_unique<std::byte[]>(bytes_ + 2 * kAlignment)) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.get());
    const uintptr_t aligned = (address + kAlignment - 1) / kAlignment * kAlignment;
    data_ = storage_.get() + (aligned - address) + SizeOf(spec.type);
  }
  std::byte* data() { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr uintptr_t kAlignment = 64;
  size_t bytes_;
  std::unique_ptr<std::byte[]> storage_;
  std::byte* data_ = nullptr;
};

}  // namespace

Result<Network> LoadNetwork(const std::string& name) {
  const std::string path = std::string(TUNEC_TEST_DATA) + "/networks/" + name;
  Network network;
  TUNEC_ASSIGN(network.graph, ReadGraphFile(path + ".graph", kSeed));
  TUNEC_ASSIGN(network.arrays, LoadNpz(path + ".npz"));
  TUNEC_ASSIGN(network.inputs, InputsByName(network.graph, network.arrays));
  return network;
}

Graph GraphOf(std::string_view text) {
  Result<Graph> graph = ParseGraph(text, "test.graph", RandomWeights(kSeed));
  TUNEC_CHECK(graph.has_value(), "{}", graph.error().Format());
  return *std::move(graph);
}

TuningTask TaskOf(const Graph& graph, const CompileOptions& options) {
  const Result<FrontReport> front = RunFrontEnd(graph, options);
  TUNEC_CHECK(front.has_value(), "{}", front.error().Format());
  ModelTasks tasks = CollectTasks(*front, options.target);
  TUNEC_CHECK(tasks.unique.size() == 1, "{} tasks, expected one", tasks.unique.size());
  return std::move(tasks.unique.front());
}

CompileOptions Options(int threads) {
  CompileOptions options;
  options.target = DetectCpu(threads);
  options.worker_path = std::string(TUNEC_BINARY_DIR) + "/bin/tunec-worker";
  return options;
}

Database InMemory() {
  Result<Database> database = Database::Open(":memory:", OpenMode::kReadWrite);
  TUNEC_CHECK(database.has_value(), "{}", database.error().Format());
  return *std::move(database);
}

std::vector<Array> SomeInputs(const Executable& executable) {
  std::vector<Array> inputs;
  for (const TensorSpec& spec : executable.Inputs()) {
    Random random(StreamSeed(kSeed, "input " + spec.name));
    Array array(spec.type, spec.shape);
    for (int64_t i = 0; i < array.size(); ++i) {
      const double unit = random.Unit();
      if (IsFloat(spec.type)) {
        array.SetDouble(i, 3 * unit - 1.5);
      } else {
        array.SetInt(i, static_cast<int64_t>(2 * unit));
      }
    }
    inputs.push_back(std::move(array));
  }
  return inputs;
}

Result<std::vector<Array>> RunOnce(const Executable& executable, const std::vector<Array>& inputs) {
  std::vector<LooseBuffer> given;
  std::vector<LooseBuffer> made;
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    given.emplace_back(executable.Inputs().at(i));
    TUNEC_CHECK(given.back().bytes() == inputs[i].bytes(), "input {} has another size", i);
    std::memcpy(given.back().data(), inputs[i].data(), inputs[i].bytes());
    sources.push_back(given.back().data());
  }
  for (const TensorSpec& spec : executable.Outputs()) {
    made.emplace_back(spec);
    std::memset(made.back().data(), 0xff, made.back().bytes());  // unwritten floats are NaN
    targets.push_back(made.back().data());
  }
  TUNEC_RETURN_IF_ERROR(executable.Run(sources, targets));
  std::vector<Array> outputs;
  for (size_t i = 0; i < made.size(); ++i) {
    const TensorSpec& spec = executable.Outputs()[i];
    Array array(spec.type, spec.shape);
    std::memcpy(array.mutable_data(), made[i].data(), made[i].bytes());
    outputs.push_back(std::move(array));
  }
  return outputs;
}

Result<double> ErrorAgainstReference(const Graph& graph, const Executable& executable) {
  const std::vector<Array> inputs = SomeInputs(executable);
  TUNEC_ASSIGN(const std::vector<Array> expected, RunReference(graph, inputs));
  TUNEC_ASSIGN(const std::vector<Array> actual, RunOnce(executable, inputs));
  double worst = actual.size() == expected.size() ? 0 : 1e30;
  for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    worst = std::max(worst, RelativeError(actual[i], expected[i]));
  }
  return worst;
}

}  // namespace tunec::testing
