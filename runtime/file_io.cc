#include "runtime/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tunec {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  // Some file systems report a full disk only here.
  bool Close() { return close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

std::unexpected<Error> FailSystem(const char* what, const std::string& path) {
  const int error = errno;
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Fail(code, "cannot {} '{}': {}", what, path, std::strerror(error));
}

bool WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(written);
  }
  return true;
}

}  // namespace

Result<Buffer> ReadFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FailSystem("open", path);
  struct stat status;
  if (fstat(file.get(), &status) != 0) return FailSystem("read", path);
  if (!S_ISREG(status.st_mode)) return Fail(ErrorCode::kIo, "'{}' is not a regular file", path);
  TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(status.st_size));
  for (size_t done = 0; done < buffer.size();) {
    const ssize_t got = read(file.get(), buffer.data() + done, buffer.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailSystem("read", path);
    if (got == 0) return Fail(ErrorCode::kIo, "'{}' became shorter while it was read", path);
    done += got;
  }
  return buffer;
}

Status WriteFileAside(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  std::string aside = path + ".XXXXXX";
  Descriptor file(mkostemp(aside.data(), O_CLOEXEC));
  if (file.get() < 0) return FailSystem("write beside", path);
  bool good = std::ranges::all_of(pieces, [&](auto piece) { return WriteAll(file.get(), piece); });
  // mkostemp makes files that only the owner may read; give the usual permissions.
  const mode_t mask = umask(0);
  umask(mask);
  good = good && fchmod(file.get(), 0666 & ~mask) == 0;
  good = good && fsync(file.get()) == 0 && file.Close();
  if (good && std::rename(aside.c_str(), path.c_str()) == 0) return {};
  auto failure = FailSystem("write", path);
  unlink(aside.c_str());
  return failure;
}

}  // namespace tunec
