#include "kernel/compile_kernel.h"

#include <utility>

#include "ir/nest/in_place.h"
#include "kernel/stage_runner.h"
#include "support/check.h"

namespace tunec {
namespace {

// Runs the target's own stages. Verifies the loops before the first stage and after the last.
Result<LoopNest> RunTargetStages(LoopNest nest, const CodeGenerator& generator,
                                 const StageRunner& stages) {
  const std::span<const NestStage> table = generator.Stages();
  if (!table.empty()) TUNEC_RETURN_IF_ERROR(StageRunner::VerifyBefore(table[0].name, nest));
  for (const NestStage& stage : table) {
    TUNEC_ASSIGN(nest,
                 stages.Run<LoopNest>(stage.name, nest.name, [&] { return stage.rewrite(nest); }));
  }
  TUNEC_RETURN_IF_ERROR(StageRunner::VerifyBefore("emit", nest));
  return nest;
}

// The function of a CodeGenerator that compiles: Compile or CompileForOneRun.
using CompileFunction = Result<KernelImage> (CodeGenerator::*)(const LoopNest&,
                                                               const Target&) const;

Result<KernelImage> EmitMapped(LoopNest mapped, const CodeGenerator& generator,
                               const Target& target, const StageRunner& stages,
                               CompileFunction compile) {
  stages.Plant({"emit", mapped.name}, mapped);
  KernelImage image;
  TUNEC_RETURN_IF_ERROR(stages.Check("emit", mapped.name, mapped, [&]() -> Status {
    TUNEC_ASSIGN(image, (generator.*compile)(mapped, target));
    return {};
  }));
  return image;
}

Result<KernelImage> Emit(const LoopNest& nest, const Target& target, const StageRunner& stages,
                         CompileFunction compile) {
  TUNEC_ASSIGN(const auto generator, GeneratorFor(target));
  TUNEC_ASSIGN(LoopNest mapped, RunTargetStages(nest, *generator, stages));
  return EmitMapped(std::move(mapped), *generator, target, stages, compile);
}

Result<KernelImage> EmitPrepackWith(const LoopNest& nest, const Target& target,
                                    const StageRunner& stages) {
  return Emit(nest, {.host = target.host}, stages, &CodeGenerator::CompileForOneRun);
}

Result<CompiledPrepack> CompilePrepack(const LoopNest& nest, const Target& target,
                                       const StageRunner& stages) {
  TUNEC_CHECK(nest.tensors.size() == 2, "prepack {} has {} tensors", nest.name,
              nest.tensors.size());
  const Tensor& packed = nest.tensors[TensorId(1)];
  CompiledPrepack prepack{.weight = nest.tensors[TensorId(0)].name, .packed = packed.name};
  prepack.packed_bytes = StorageBytes(packed);
  TUNEC_ASSIGN(prepack.image, EmitPrepackWith(nest, target, stages));
  if (target.device) prepack.host_features = target.host.features;
  return prepack;
}

}  // namespace

Result<CompiledKernel> CompileKernel(const Compute& compute, const Schedule& schedule,
                                     const KernelOptions& options) {
  TUNEC_ASSIGN(const KernelLoops loops, RunLoopPipeline(compute, schedule, options.loops));
  return CompileLoops(loops, options);
}

Result<CompiledKernel> CompileLoops(const KernelLoops& loops, const KernelOptions& options) {
  const StageRunner stages(options.loops);
  const LoopNest& nest = loops.nest;
  TUNEC_ASSIGN(const auto generator, GeneratorFor(options.target));
  TUNEC_ASSIGN(LoopNest mapped, RunTargetStages(nest, *generator, stages));
  CompiledKernel kernel;
  if (options.target.device) kernel.work = CountPhaseWork(mapped);
  TUNEC_ASSIGN(kernel.image, EmitMapped(std::move(mapped), *generator, options.target, stages,
                                        &CodeGenerator::Compile));
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

Status CheckFits(const KernelLoops& loops, const Target& target) {
  TUNEC_ASSIGN(const auto generator, GeneratorFor(target));
  return generator->CheckFits(loops.nest, target);
}

Result<KernelImage> EmitImage(const LoopNest& nest, const Target& target) {
  const LoopPipelineOptions options;
  return Emit(nest, target, StageRunner(options), &CodeGenerator::Compile);
}

Result<KernelImage> EmitPrepackImage(const LoopNest& nest, const Target& target) {
  const LoopPipelineOptions options;
  return EmitPrepackWith(nest, target, StageRunner(options));
}

Result<std::string> EmitText(const LoopNest& nest, const Target& target, CodeText text) {
  const LoopPipelineOptions options;
  TUNEC_ASSIGN(const auto generator, GeneratorFor(target));
  TUNEC_ASSIGN(const LoopNest mapped, RunTargetStages(nest, *generator, StageRunner(options)));
  return generator->Show(mapped, target, text);
}

}  // namespace tunec
