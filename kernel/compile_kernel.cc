#include "kernel/compile_kernel.h"

#include <utility>

#include "ir/in_place.h"
#include "jit/compile.h"
#include "support/check.h"

namespace tunec {
namespace {

Result<CompiledPrepack> CompilePrepack(const LoopNest& nest, const Target& target) {
  TUNEC_CHECK(nest.tensors.size() == 2, "prepack {} has {} tensors", nest.name,
              nest.tensors.size());
  const Tensor& packed = nest.tensors[1];
  CompiledPrepack prepack{.weight = nest.tensors[0].name, .packed = packed.name};
  prepack.packed_bytes = StorageElements(packed) * static_cast<int64_t>(SizeOf(packed.type));
  TUNEC_ASSIGN(prepack.object, CompileObject(nest, target));
  return prepack;
}

}  // namespace

Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options) {
  TUNEC_ASSIGN(ScheduledKernel scheduled, ApplySchedule(compute, schedule, options.arithmetic));
  LoopNest& nest = scheduled.nest;
  if (options.plant_fault) options.plant_fault(nest);
  CompiledKernel kernel;
  TUNEC_ASSIGN(kernel.object, CompileObject(nest, options.target));
  for (const TensorId id : Arguments(nest)) kernel.arguments.push_back(nest.tensors[id].name);
  for (const InPlacePair& pair : FindInPlacePairs(nest)) {
    kernel.in_place.emplace_back(nest.tensors[pair.input].name, nest.tensors[pair.output].name);
  }
  const MultiplyAdds work = CountMultiplyAdds(nest);
  kernel.multiply_adds = static_cast<int64_t>(work.total);
  kernel.vector_multiply_adds = static_cast<int64_t>(work.vector);
  for (const LoopNest& prepack : scheduled.prepack) {
    TUNEC_ASSIGN(CompiledPrepack compiled, CompilePrepack(prepack, options.target));
    kernel.prepacks.push_back(std::move(compiled));
  }
  return kernel;
}

}  // namespace tunec
