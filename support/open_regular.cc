#include "support/open_regular.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tunec {

std::unexpected<Error> MakeSystemError(std::string_view action, const std::filesystem::path& path) {
  const int reason = errno;
  return Fail(reason == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "can't {} {}: {}", action,
              path.string(), std::strerror(reason));
}

Result<OpenedFile> OpenRegular(const std::filesystem::path& path) {
  OpenedFile opened{
      .file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)),
      .status = {}};
  if (opened.file.get() < 0) return MakeSystemError("open", path);
  if (::fstat(opened.file.get(), &opened.status) != 0) return MakeSystemError("inspect", path);
  if (!S_ISREG(opened.status.st_mode)) {
    return Fail(ErrorCode::kIo, "{} is not a regular file", path.string());
  }
  return opened;
}

Result<std::span<const std::byte>> MapShared(const OpenedFile& opened,
                                             const std::filesystem::path& path) {
  const auto size = static_cast<size_t>(opened.status.st_size);
  if (size == 0) return std::span<const std::byte>();
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, opened.file.get(), 0);
  if (memory == MAP_FAILED) return MakeSystemError("map", path);
  return std::span(static_cast<const std::byte*>(memory), size);
}

void Unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace tunec
