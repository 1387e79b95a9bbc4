#include "kernel/compile_kernel.h"

#include <utility>

#include "ir/in_place.h"
#include "jit/compile.h"
#include "jit/serialize_threads.h"
#include "kernel/stage_runner.h"
#include "support/check.h"

namespace tunec {
namespace {

// Loops for any target's threads as this one runs them, verified.
Result<LoopNest> Prepare(const LoopNest& nest, const StageRunner& stages) {
  TUNEC_ASSIGN(LoopNest serial, stages.Run<LoopNest>("serialize_threads", nest.name,
                                                     [&] { return SerializeThreads(nest); }));
  TUNEC_RETURN_IF_ERROR(stages.VerifyLast(serial));
  return serial;
}

Result<ObjectCode> Emit(const LoopNest& nest, const Target& target, const StageRunner& stages) {
  TUNEC_ASSIGN(LoopNest serial, Prepare(nest, stages));
  stages.Plant({"emit", serial.name}, serial);
  ObjectCode object;
  TUNEC_RETURN_IF_ERROR(stages.Check("emit", serial.name, serial, [&]() -> Status {
    TUNEC_ASSIGN(object, CompileObject(serial, target));
    return {};
  }));
  return object;
}

Result<CompiledPrepack> CompilePrepack(const LoopNest& nest, const Target& target,
                                       const StageRunner& stages) {
  TUNEC_CHECK(nest.tensors.size() == 2, "prepack {} has {} tensors", nest.name,
              nest.tensors.size());
  const Tensor& packed = nest.tensors[1];
  CompiledPrepack prepack{.weight = nest.tensors[0].name, .packed = packed.name};
  prepack.packed_bytes = StorageBytes(packed);
  TUNEC_ASSIGN(prepack.object, Emit(nest, target, stages));
  return prepack;
}

}  // namespace

Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options) {
  const StageRunner stages(options.loops);
  TUNEC_ASSIGN(const KernelLoops loops, RunLoopPipeline(compute, schedule, options.loops));
  const LoopNest& nest = loops.nest;
  CompiledKernel kernel;
  TUNEC_ASSIGN(kernel.object, Emit(nest, options.target, stages));
  for (const TensorId id : Arguments(nest)) kernel.arguments.push_back(nest.tensors[id].name);
  for (const InPlacePair& pair : FindInPlacePairs(nest)) {
    kernel.in_place.emplace_back(nest.tensors[pair.input].name, nest.tensors[pair.output].name);
  }
  for (const LoopNest& prepack : loops.prepack) {
    TUNEC_ASSIGN(CompiledPrepack compiled, CompilePrepack(prepack, options.target, stages));
    kernel.prepacks.push_back(std::move(compiled));
  }
  return kernel;
}

Result<ObjectCode> EmitObject(const LoopNest& nest, const Target& target) {
  const LoopPipelineOptions options;
  return Emit(nest, target, StageRunner(options));
}

Result<std::string> EmitText(const LoopNest& nest, const Target& target, CodeText text) {
  const LoopPipelineOptions options;
  TUNEC_ASSIGN(const LoopNest serial, Prepare(nest, StageRunner(options)));
  return text == CodeText::kLlvmIr ? EmitLlvmIr(serial, target) : EmitAssembly(serial, target);
}

}  // namespace tunec
