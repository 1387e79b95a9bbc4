#include "jit/cpu/load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "jit/cpu/llvm_target.h"
#include "jit/cpu/object_check.h"
#include "runtime/tile_permission.h"
#include "support/descriptor.h"

namespace tunec {
namespace {

Error OrcError(const char* what, llvm::Error error) {
  return MakeError(ErrorCode::kInternal, "{}: {}", what, llvm::toString(std::move(error)));
}

/// Returns the process's linker. Kernels share ownership of the linker, so that it outlives the
/// last kernel even if static objects are destroyed first.
Result<std::shared_ptr<llvm::orc::LLJIT>> Linker() {
  static const auto linker = []() -> Result<std::shared_ptr<llvm::orc::LLJIT>> {
    TUNEC_RETURN_IF_ERROR(jit::FindX86());
    auto machine = llvm::orc::JITTargetMachineBuilder(jit::HostTriple());
    machine.setCodeModel(llvm::CodeModel::Small).setRelocationModel(llvm::Reloc::PIC_);
    auto jit = llvm::orc::LLJITBuilder()
                   .setJITTargetMachineBuilder(std::move(machine))
                   .setLinkProcessSymbolsByDefault(false)
                   .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                   .create();
    if (!jit) return std::unexpected(OrcError("cannot create the JIT linker", jit.takeError()));
    return std::shared_ptr<llvm::orc::LLJIT>(std::move(*jit));
  }();
  return linker;
}

/// One kernel's code in a separate JITDylib, since names repeat from kernel to kernel.
class LoadedCode {
 public:
  LoadedCode(std::shared_ptr<llvm::orc::LLJIT> linker, llvm::orc::JITDylib& library)
      : linker_(std::move(linker)), library_(library) {}
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  ~LoadedCode() { llvm::consumeError(linker_->getExecutionSession().removeJITDylib(library_)); }
  llvm::orc::JITDylib& library() { return library_; }

 private:
  std::shared_ptr<llvm::orc::LLJIT> linker_;
  llvm::orc::JITDylib& library_;
};

// Opens the map file of perf, or returns null. The file name is predictable, in a folder that all
// users may write to. Links and files of other users at that path are therefore not written.
std::FILE* OpenPerfMap() {
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor file(open(path.c_str(), flags, 0644));
  struct stat status {};
  const bool ours = file.get() >= 0 && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_uid == geteuid() && status.st_nlink == 1;
  return ours ? fdopen(file.Release(), "a") : nullptr;
}

void WritePerfMap(const std::vector<jit::FunctionSize>& functions, const KernelImage& image,
                  const Kernel& kernel) {
  std::FILE* file = OpenPerfMap();
  if (file == nullptr) return;  // only profiling is affected
  for (size_t i = 0; i < image.phases.size(); ++i) {
    for (const jit::FunctionSize& function : functions) {
      if (function.name != image.phases[i].symbol) continue;
      fmt::print(file, "{:x} {:x} {}\n", reinterpret_cast<uintptr_t>(kernel.phases[i].function),
                 function.bytes, function.name);
    }
  }
  std::fclose(file);
}

Status Define(llvm::orc::LLJIT& linker, llvm::orc::JITDylib& library,
              std::span<const ImportedFunction> imports) {
  if (imports.empty()) return {};
  llvm::orc::SymbolMap symbols;
  for (const ImportedFunction& import : imports) {
    symbols[linker.mangleAndIntern(import.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(import.address), llvm::JITSymbolFlags::Exported};
  }
  if (auto error = library.define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return std::unexpected(
        OrcError("cannot define the functions that the kernel calls", std::move(error)));
  return {};
}

}  // namespace

Result<Kernel> LoadKernel(const KernelImage& image, PerfMap perf_map) {
  if (image.format != kElfFormat)
    return Fail(ErrorCode::kParse, "code has format '{}', which the host cannot load",
                image.format);
  return LoadObject(image, {}, perf_map);
}

Result<Kernel> LoadObject(const KernelImage& image, std::span<const ImportedFunction> imports,
                          PerfMap perf_map) {
  RequestTileData();  // the code may use tiles, and may come from another process
  TUNEC_ASSIGN(auto linker, Linker());
  std::vector<std::string_view> names;
  for (const ImportedFunction& import : imports) names.push_back(import.name);
  TUNEC_ASSIGN(const auto functions, jit::CheckObject(image.bytes, names));
  static std::atomic<uint64_t> number = 0;
  auto& session = linker->getExecutionSession();
  auto code = std::make_shared<LoadedCode>(
      linker, session.createBareJITDylib(fmt::format("kernel{}", number++)));
  TUNEC_RETURN_IF_ERROR(Define(*linker, code->library(), imports));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(image.bytes), "kernel");
  if (auto error = linker->addObjectFile(code->library(), std::move(buffer)))
    return std::unexpected(OrcError("cannot load the kernel", std::move(error)));
  Kernel kernel;
  for (const PhaseLaunch& launch : image.phases) {
    auto address = linker->lookup(code->library(), launch.symbol);
    if (!address) {
      return Fail(ErrorCode::kNotFound, "object code has no function '{}': {}", launch.symbol,
                  llvm::toString(address.takeError()));
    }
    kernel.phases.push_back({address->toPtr<PhaseFunction>(), launch.Blocks(), launch.waves});
  }
  kernel.workspace_bytes = image.workspace_bytes;
  kernel.scratch_bytes = image.scratch_bytes;
  if (perf_map == PerfMap::kOn) WritePerfMap(functions, image, kernel);
  kernel.code = code;
  return kernel;
}

}  // namespace tunec
