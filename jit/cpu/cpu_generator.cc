// The code generator for x86-64. It translates a LoopNest to LLVM IR, and the IR to an object. The
// object imports no symbols and exports one function per phase.
#include "jit/cpu/cpu_generator.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Target/TargetMachine.h>

#include <vector>

#include "jit/builder/builder.h"
#include "jit/builder/module.h"
#include "jit/cpu/cpu_machine.h"
#include "jit/cpu/generate_code.h"
#include "jit/cpu/join_tasks.h"
#include "jit/cpu/llvm_target.h"
#include "jit/cpu/object_check.h"
#include "jit/cpu/serialize_threads.h"
#include "jit/cpu/x86_instructions.h"
#include "jit/emit/nest.h"

namespace tunec {
namespace {

// The version of the generated code, which is a part of artifact keys. Increase it whenever the
// same LoopNest and Target may produce different code.
constexpr int kCodeGeneratorVersion = 18;

/// Writes the nest's functions into `builder` and runs LLVM's verifier. Returns the launches of the
/// phases.
Result<std::vector<PhaseLaunch>> Emit(const LoopNest& nest, const Target& target,
                                      jit::Builder& builder, llvm::TargetMachine& machine) {
  jit::SetMachine(builder.module(), machine);
  jit::CpuMachine cpu(target);
  // Nests that permit fusing also permit zeros in place of denormal results of conversions and of
  // exponentials of differences. On Intel's processors, an operation on a denormal number takes
  // over 100 cycles, and a softmax with a mask of -100 has one for each masked element.
  if (nest.contraction == Contraction::kFused) {
    builder.FlushDenormals();
    // VCVTNEPS2BF16 treats denormal numbers as 0.
    if (target.host.features.contains("avx512bf16") && target.host.vector_bits >= 512)
      builder.SetBFloat16Rounding(jit::X86RoundToBFloat16);
  }
  if (target.host.features.contains("avx512f") && target.host.vector_bits >= 512)
    builder.SetPowerScaling({jit::X86ScalesByPower, jit::X86ScaleByPower});
  TUNEC_ASSIGN(std::vector<PhaseLaunch> phases, jit::EmitNest(nest, cpu, builder));
  TUNEC_RETURN_IF_ERROR(jit::VerifyModule(builder.module(), "the emitter"));
  return phases;
}

Result<std::string> EmitLlvmIr(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(auto machine, jit::GetTargetMachine(target.host, jit::Optimisation::kFull));
  jit::Builder builder(nest.name);
  TUNEC_RETURN_IF_ERROR(Emit(nest, target, builder, *machine));
  return jit::PrintModule(builder.module());
}

Result<std::string> EmitAssembly(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(auto machine, jit::GetTargetMachine(target.host, jit::Optimisation::kFull));
  jit::Builder builder(nest.name);
  TUNEC_RETURN_IF_ERROR(Emit(nest, target, builder, *machine));
  return jit::GenerateCode(builder.module(), *machine, jit::FileKind::kAssembly);
}

Result<KernelImage> CompileObject(const LoopNest& nest, const Target& target,
                                  jit::Optimisation optimisation) {
  TUNEC_ASSIGN(auto machine, jit::GetTargetMachine(target.host, optimisation));
  jit::Builder builder(nest.name);
  KernelImage image;
  TUNEC_ASSIGN(image.phases, Emit(nest, target, builder, *machine));
  TUNEC_ASSIGN(image.bytes, jit::GenerateCode(builder.module(), *machine, jit::FileKind::kObject));
  TUNEC_RETURN_IF_ERROR(jit::CheckObject(image.bytes));
  const StoragePlan plan = PlanStorage(nest);
  image.workspace_bytes = plan.workspace_bytes;
  image.scratch_bytes = plan.scratch_bytes;
  return image;
}

constexpr NestStage kStages[] = {
    {"map_threads", "blocks of threads become tasks, whose threads run one after the other",
     [](const LoopNest& nest) -> Result<LoopNest> { return SerializeThreads(nest); }},
    {"join_tasks", "the tasks of a short phase become one task",
     [](const LoopNest& nest) -> Result<LoopNest> { return JoinShortTasks(nest); }},
};

class CpuGenerator : public CodeGenerator {
 public:
  std::string_view Name() const override { return "cpu"; }
  std::string Version() const override {
    return fmt::format("tunec-codegen {}, LLVM {}", kCodeGeneratorVersion, LLVM_VERSION_STRING);
  }
  std::span<const NestStage> Stages() const override { return kStages; }
  Result<KernelImage> Compile(const LoopNest& nest, const Target& target) const override {
    return CompileObject(nest, target, jit::Optimisation::kFull);
  }
  Result<KernelImage> CompileForOneRun(const LoopNest& nest, const Target& target) const override {
    return CompileObject(nest, target, jit::Optimisation::kNone);
  }
  Result<std::string> Show(const LoopNest& nest, const Target& target,
                           CodeText text) const override {
    switch (text) {
      case CodeText::kLlvmIr:
        return EmitLlvmIr(nest, target);
      case CodeText::kAssembly:
        return EmitAssembly(nest, target);
      case CodeText::kMachineCode:
        break;
    }
    return Fail(ErrorCode::kUnsupported,
                "machine code text is not available for a cpu; show its assembly");
  }
};

}  // namespace

std::shared_ptr<const CodeGenerator> MakeCpuGenerator() { return std::make_shared<CpuGenerator>(); }

}  // namespace tunec
