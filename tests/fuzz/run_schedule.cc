#include "tests/fuzz/run_schedule.h"

#include <map>

#include "kernel/run_once.h"

namespace tunec::fuzz {
namespace {

// Returns the arguments of a nest, except outputs. Some may be packed weights from earlier nests.
std::vector<Array> ArgumentsOf(const LoopNest& nest, const std::map<std::string, Array>& by_name) {
  std::vector<Array> arguments;
  for (const TensorId id : Arguments(nest))
    if (nest.tensors[id].role != TensorRole::kOutput)
      arguments.push_back(by_name.at(nest.tensors[id].name));
  return arguments;
}

}  // namespace

ThreadPool& Pool() {
  static ThreadPool pool(kThreads);
  return pool;
}

std::vector<NamedCompute> Named(const std::vector<Lowering>& lowerings) {
  std::vector<NamedCompute> named;
  for (const Lowering& lowering : lowerings) named.push_back({lowering.name, lowering.compute});
  return named;
}

Decisions RandomDecisions(const Sketch& sketch, Random& random) {
  Decisions decisions;
  for (const Knob& knob : sketch.knobs)
    decisions.push_back(static_cast<int>(random.Below(knob.choices.size())));
  return decisions;
}

bool MayReject(ErrorCode code) {
  return code == ErrorCode::kIllegalSchedule || code == ErrorCode::kInvalidArgument ||
         code == ErrorCode::kResourceLimit;
}

Result<std::vector<Array>> RunScheduled(const KernelLoops& kernel, const Compute& compute,
                                        std::span<const Array> arguments, const Target& target) {
  std::map<std::string, Array> by_name;
  size_t next = 0;
  for (const Tensor& tensor : compute.tensors)
    if (tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight)
      by_name[tensor.name] = arguments[next++];
  for (const LoopNest& nest : kernel.prepack) {
    TUNEC_ASSIGN(const std::vector<Array> packed,
                 CompileAndRun(nest, ArgumentsOf(nest, by_name), target, Pool()));
    for (const TensorId id : Arguments(nest))
      if (nest.tensors[id].role == TensorRole::kOutput)
        by_name[nest.tensors[id].name] = packed.front();
  }
  return CompileAndRun(kernel.nest, ArgumentsOf(kernel.nest, by_name), target, Pool());
}

}  // namespace tunec::fuzz
