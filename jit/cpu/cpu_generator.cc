#include "jit/cpu/cpu_generator.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>

#include "jit/cpu/compile.h"
#include "jit/cpu/serialize_threads.h"

namespace tunec {
namespace {

class CpuGenerator : public CodeGenerator {
 public:
  std::string_view Name() const override { return "cpu"; }
  std::string Version() const override {
    return fmt::format("tunec-codegen {}, LLVM {}", kCodeGeneratorVersion, LLVM_VERSION_STRING);
  }
  LoopNest MapThreads(const LoopNest& nest) const override { return SerializeThreads(nest); }
  Result<KernelImage> Compile(const LoopNest& nest, const Target& target) const override {
    return CompileObject(nest, target);
  }
  Result<std::string> Show(const LoopNest& nest, const Target& target,
                           CodeText text) const override {
    return text == CodeText::kLlvmIr ? EmitLlvmIr(nest, target) : EmitAssembly(nest, target);
  }
};

}  // namespace

std::shared_ptr<const CodeGenerator> MakeCpuGenerator() { return std::make_shared<CpuGenerator>(); }

}  // namespace tunec
