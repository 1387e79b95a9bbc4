#include "runtime/bundle/mapped_code.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "support/check.h"

namespace tunec::bundle {
namespace {

/// A copy of code in memory that is executable and not writable.
class CodeCopy {
 public:
  static Result<std::shared_ptr<const CodeCopy>> Make(std::span<const std::byte> image) {
    void* const memory =
        ::mmap(nullptr, image.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return Fail(ErrorCode::kResourceLimit, "cannot allocate {} bytes for code", image.size());
    auto copy = std::shared_ptr<const CodeCopy>(
        new CodeCopy({static_cast<const std::byte*>(memory), image.size()}));
    std::memcpy(memory, image.data(), image.size());
    if (::mprotect(memory, image.size(), PROT_READ | PROT_EXEC) == 0) return copy;
    return Fail(ErrorCode::kIo, "cannot make code executable: {}", std::strerror(errno));
  }
  CodeCopy(const CodeCopy&) = delete;
  CodeCopy& operator=(const CodeCopy&) = delete;
  ~CodeCopy() { ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit CodeCopy(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

struct ExecutableCode {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

Result<ExecutableCode> MakeExecutable(std::shared_ptr<const void> owner,
                                      std::span<const std::byte> image) {
  if (image.empty()) return ExecutableCode{std::move(owner), image};
  void* const begin = const_cast<std::byte*>(image.data());
  TUNEC_CHECK(reinterpret_cast<uintptr_t>(begin) % 4096 == 0, "code at {}", fmt::ptr(begin));
  if (::mprotect(begin, image.size(), PROT_READ | PROT_EXEC) == 0)
    return ExecutableCode{std::move(owner), image};
  TUNEC_ASSIGN(const auto copy, CodeCopy::Make(image));
  return ExecutableCode{copy, copy->bytes()};
}

}  // namespace

Result<std::vector<Kernel>> KernelsIn(std::shared_ptr<const void> owner,
                                      std::span<const std::byte> image,
                                      const std::vector<KernelContract>& kernels) {
  TUNEC_ASSIGN(const ExecutableCode code, MakeExecutable(std::move(owner), image));
  std::vector<Kernel> loaded;
  for (const KernelContract& contract : kernels) {
    Kernel kernel{.workspace_bytes = contract.workspace_bytes,
                  .scratch_bytes = contract.scratch_bytes,
                  .code = code.owner};
    for (const PhaseContract& phase : contract.phases) {
      const auto address = reinterpret_cast<uintptr_t>(code.bytes.data() + phase.entry);
      // A direct cast from data to code is not portable. NOLINTNEXTLINE(performance-no-int-to-ptr)
      const auto function = reinterpret_cast<PhaseFunction>(address);
      kernel.phases.push_back({.function = function, .tasks = phase.tasks, .waves = phase.waves});
    }
    loaded.push_back(std::move(kernel));
  }
  return loaded;
}

}  // namespace tunec::bundle
