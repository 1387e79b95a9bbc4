#include "jit/cpu/generate_code.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCContext.h>
#include <llvm/Pass.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar.h>

#include <algorithm>
#include <array>
#include <memory>

#include "support/trace.h"

namespace tunec::jit {
namespace {

llvm::AnalysisID IdOf(llvm::Pass* pass) { return std::unique_ptr<llvm::Pass>(pass)->getPassID(); }

// Returns whether a pass is omitted for all modules. The omitted passes would take 40 % of the time
// of code generation (measured) and not improve the code. The emitted addresses already are
// displacements from few pointers, and the emitted order of instructions is good.
bool IsLeftOut(llvm::AnalysisID id) {
  static const std::array<llvm::AnalysisID, 3> left_out = {
      IdOf(llvm::createLoopStrengthReducePass()),
      IdOf(llvm::createCodeGenPrepareLegacyPass()),
      &llvm::MachineSchedulerID,
  };
  return std::ranges::find(left_out, id) != left_out.end();
}

size_t LargestBlock(const llvm::Module& module) {
  size_t largest = 0;
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) largest = std::max(largest, block.size());
  }
  return largest;
}

// A pass manager that does not add the passes of IsLeftOut. LLVM's own options for this purpose are
// command-line options of the whole process: they would affect every other user of libLLVM.
class CodePasses : public llvm::legacy::PassManager {
 public:
  explicit CodePasses(const llvm::Module& module)
      : reorders_(LargestBlock(module) <= kMostReordered) {}

  void add(llvm::Pass* pass) override {
    const llvm::AnalysisID id = pass->getPassID();
    if (IsLeftOut(id) || (id == &llvm::PostRASchedulerID && !reorders_)) {
      delete pass;
      return;
    }
    PassManager::add(pass);
  }

 private:
  // The time of the scheduler after register allocation grows with the square of a block's size.
  // For blocks of 1,500 instructions it is half of the time of code generation, and does not change
  // the kernels' speed (measured). It makes kernels with many small chains of instructions 2 %
  // faster.
  static constexpr size_t kMostReordered = 800;
  bool reorders_;
};

}  // namespace

Result<std::string> GenerateCode(llvm::Module& module, llvm::TargetMachine& machine,
                                 FileKind kind) {
  const TraceScope scope("llvm");
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  CodePasses passes(module);
  bool failed = false;
  if (kind == FileKind::kObject) {
    llvm::MCContext* context = nullptr;
    failed = machine.addPassesToEmitMC(passes, context, stream, /*DisableVerify=*/true);
  } else {
    failed = machine.addPassesToEmitFile(passes, stream, nullptr,
                                         llvm::CodeGenFileType::AssemblyFile, true);
  }
  if (failed) return Fail(ErrorCode::kInternal, "LLVM cannot write this kind of file");
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace tunec::jit
