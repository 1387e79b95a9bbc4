#include "tools/dump_kernel.h"

#include <fmt/format.h>

#include <system_error>

#include "kernel/compile_kernel.h"
#include "kernel/make_kernel_file.h"
#include "support/file.h"
#include "support/hash.h"

namespace tunec {

std::string DumpName(size_t position, std::string_view statements) {
  return fmt::format("{:03}-{}", position, StableHash(statements).substr(0, 16));
}

Status DumpKernel(const std::filesystem::path& folder, const std::string& name, KernelDump dump,
                  const Target& target) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(ErrorCode::kIo, "{}: {}", folder.string(), error.message());
  const auto file = [&](const std::string& ending) { return folder / (name + ending); };
  if (!dump.nests.empty()) dump.nests[0].name = "kernel";
  std::string loops;
  for (const LoopNest& nest : dump.nests) loops += Print(nest);
  if (!dump.schedule.empty())
    TUNEC_RETURN_IF_ERROR(WriteFileAtomically(file(".sched"), dump.schedule));
  TUNEC_RETURN_IF_ERROR(WriteFileAtomically(file(".nest"), loops));
  for (size_t n = 0; n < dump.nests.size(); ++n) {
    const bool of_device = n == 0 && target.device;
    const Result<KernelImage> image =
        n == 0 ? EmitImage(dump.nests[n], target) : EmitPrepackImage(dump.nests[n], target);
    if (!image) return WriteFileAtomically(file(".error"), image.error().Format() + "\n");
    TUNEC_RETURN_IF_ERROR(WriteFileAtomically(file(fmt::format(".{}.o", n)), image->bytes));
    if (!of_device) continue;
    TUNEC_RETURN_IF_ERROR(
        WriteFileAtomically(file(".kernel"), Serialize(MakeKernelFile(dump.nests[0], *image))));
  }
  return {};
}

}  // namespace tunec
