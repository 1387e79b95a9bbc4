#include "tests/graph/onnx/mutate_shapes.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <span>
#include <string>

#include "graph/fuse/fusion_plan.h"
#include "graph/onnx/import.h"
#include "graph/passes/pipeline.h"
#include "ir/array.h"
#include "tests/graph/fuse_groups.h"

namespace tunec::onnx_test {
namespace {

constexpr int kMostNodes = 8;

/// A new shape for one operand. Operands are the graph's inputs, then its initializers.
struct Mutant {
  int operand = 0;
  std::vector<int64_t> shape;
};

std::vector<int64_t> ShapeOf(const onnx::GraphProto& graph, int operand) {
  std::vector<int64_t> shape;
  if (operand >= graph.input_size()) {
    const auto& dims = graph.initializer(operand - graph.input_size()).dims();
    return {dims.begin(), dims.end()};
  }
  for (const auto& dim : graph.input(operand).type().tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
  return shape;
}

const std::string& NameOf(const onnx::GraphProto& graph, int operand) {
  return operand < graph.input_size() ? graph.input(operand).name()
                                      : graph.initializer(operand - graph.input_size()).name();
}

std::vector<Mutant> MutantsOf(const onnx::GraphProto& graph) {
  std::vector<Mutant> mutants;
  for (int operand = 0; operand < graph.input_size() + graph.initializer_size(); ++operand) {
    const std::vector<int64_t> shape = ShapeOf(graph, operand);
    std::set<std::vector<int64_t>> others{{}};
    if (!shape.empty()) others.insert({shape.begin() + 1, shape.end()});
    others.insert(shape);
    std::vector<int64_t> longer = shape;
    longer.insert(longer.begin(), 1);
    others.insert(longer);
    for (size_t d = 0; d < shape.size(); ++d) {
      for (const int64_t extent : {0, 1}) {
        std::vector<int64_t> other = shape;
        other[d] = extent;
        others.insert(other);
      }
    }
    others.erase(shape);
    for (const auto& other : others) mutants.push_back({operand, other});
  }
  return mutants;
}

/// Changes the tensor's shape, and sets each element to the first one. A tensor without raw data or
/// without elements stays as it is.
void Reshape(onnx::TensorProto& tensor, const std::vector<int64_t>& shape) {
  const std::vector<int64_t> old(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = ElementCount(old);
  if (!tensor.has_raw_data() || count == 0) return;
  const size_t size = tensor.raw_data().size() / static_cast<size_t>(count);
  const std::string element = tensor.raw_data().substr(0, size);
  std::string bytes;
  for (int64_t i = 0; i < ElementCount(shape); ++i) bytes += element;
  tensor.set_raw_data(bytes);
  tensor.clear_dims();
  for (const int64_t extent : shape) tensor.add_dims(extent);
}

std::string Apply(onnx::ModelProto model, const Mutant& mutant) {
  onnx::GraphProto& graph = *model.mutable_graph();
  if (mutant.operand >= graph.input_size()) {
    Reshape(*graph.mutable_initializer(mutant.operand - graph.input_size()), mutant.shape);
  } else {
    auto& type = *graph.mutable_input(mutant.operand)->mutable_type()->mutable_tensor_type();
    type.mutable_shape()->clear_dim();
    for (const int64_t extent : mutant.shape)
      type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  return model.SerializeAsString();
}

/// Imports and lowers the model. Returns the first error, if any.
Status ImportAndLower(const std::string& bytes) {
  TUNEC_ASSIGN(const Graph graph, ImportOnnxBytes(std::as_bytes(std::span(bytes)), "m.onnx", {}));
  TUNEC_ASSIGN(const PipelineResult simplified, RunPipeline(graph, {}));
  TUNEC_ASSIGN(const FusionPlan plan, PlanFusion(simplified.graph, FusionMode::kFused));
  for (const FusionGroup& group : plan.groups)
    TUNEC_RETURN_IF_ERROR(Lower(simplified.graph, group));
  return {};
}

/// The number of the mutant that the child process tries, and the message of an internal error.
struct Progress {
  size_t mutant = 0;
  char message[512] = "";
};

[[noreturn]] void TryAll(const onnx::ModelProto& model, const std::vector<Mutant>& mutants,
                         Progress& progress) {
  alarm(120);
  for (; progress.mutant < mutants.size(); ++progress.mutant) {
    const Status tried = ImportAndLower(Apply(model, mutants[progress.mutant]));
    if (tried || tried.error().code != ErrorCode::kInternal) continue;
    std::strncpy(progress.message, tried.error().message.c_str(), sizeof progress.message - 1);
    _exit(1);
  }
  _exit(0);
}

}  // namespace

void CheckMutatedShapes(const onnx::ModelProto& model) {
  static std::set<std::string> seen;
  const onnx::GraphProto& graph = model.graph();
  std::string operators;
  for (const auto& node : graph.node())
    operators += fmt::format("{}/{} ", node.op_type(), node.input_size());
  if (graph.node_size() > kMostNodes || !seen.insert(operators).second) return;
  const std::vector<Mutant> mutants = MutantsOf(graph);
  void* shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* progress = new (shared) Progress;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) TryAll(model, mutants, *progress);
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
    const Mutant& mutant = mutants.at(progress->mutant);
    ADD_FAILURE() << fmt::format(
        "{}with '{}' of shape [{}]: {}", operators, NameOf(graph, mutant.operand),
        fmt::join(mutant.shape, ","),
        WIFSIGNALED(state) ? strsignal(WTERMSIG(state)) : progress->message);
  }
  munmap(shared, sizeof(Progress));
}

}  // namespace tunec::onnx_test
