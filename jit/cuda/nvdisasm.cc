#include "jit/cuda/nvdisasm.h"

#include <chrono>
#include <filesystem>

#include "support/file.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tunec {
namespace {

constexpr std::chrono::milliseconds kLongestRun{120000};
constexpr size_t kMostText = size_t{256} << 20;

}  // namespace

Result<Nvdisasm> FindNvdisasm() {
  static const Result<Nvdisasm> found =
      FindToolkitProgram({.name = "nvdisasm",
                          .variable = "TUNEC_NVDISASM",
                          .purpose = "NVIDIA's disassembler",
                          .package = "nvidia-cuda-nvdisasm==13.2.86"});
  return found;
}

Result<std::string> Disassemble(const Nvdisasm& nvdisasm, std::string_view cubin) {
  TUNEC_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::filesystem::path file = folder / "kernel.cubin";
  TUNEC_RETURN_IF_ERROR(WriteFileAtomically(file, cubin));
  TUNEC_ASSIGN(ProcessResult done,
               RunProcess(nvdisasm.path, {"--print-code", file.string()}, kLongestRun, kMostText));
  // If the exit status is unknown, .headerflags shows success: only a disassembly has it.
  if (done.exit_status ? *done.exit_status == 0 : done.output.contains(".headerflags"))
    return std::move(done.output);
  return Fail(ErrorCode::kDevice, "nvdisasm {} cannot read the code: {}", nvdisasm.version,
              LastLine(done.output));
}

}  // namespace tunec
