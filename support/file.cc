#include "support/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tunec {
namespace {

std::unexpected<Error> FailedTo(std::string_view action, const std::filesystem::path& path) {
  const int reason = errno;
  return Fail(reason == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "can't {} {}: {}", action,
              path.string(), std::strerror(reason));
}

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  /// Closes now; false when the system reports a late write error.
  bool Close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// The size of an open regular file.
Result<size_t> SizeOfFile(int fd, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return FailedTo("inspect", path);
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kIo, "{} is not a regular file", path.string());
  }
  return static_cast<size_t>(status.st_size);
}

bool WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

// Where a new file may be renamed to. A symbolic link stays one, and the file it leads to is
// replaced; /dev/stdout and its like must not be.
Result<std::filesystem::path> ReplaceablePath(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as the system's own limit
  fs::path place = path;
  std::error_code failure;
  bool is_open_file = false;  // of a process: it would go on writing to what was replaced
  for (int i = 0; fs::is_symlink(place, failure) && i < kMostLinks; ++i) {
    is_open_file = is_open_file || place.native().starts_with("/proc/");
    const fs::path target = fs::read_symlink(place, failure);
    place = place.parent_path() / target;  // an absolute target stands alone
  }
  const fs::file_status status = fs::symlink_status(place, failure);
  const bool fits =
      status.type() == fs::file_type::not_found || (fs::is_regular_file(status) && !is_open_file);
  if (fits) return place;
  if (fs::is_directory(status)) return Fail(ErrorCode::kIo, "{} is a folder", path.string());
  return Fail(ErrorCode::kIo, "{} is not a regular file, so it can't be replaced", path.string());
}

bool WriteParts(int fd, std::span<const FilePart> parts) {
  return std::ranges::all_of(parts, [&](const FilePart& part) {
    return ::lseek(fd, part.offset, SEEK_SET) == part.offset && WriteAll(fd, part.bytes);
  });
}

}  // namespace

FileStamp StampOf(const std::filesystem::path& path) {
  std::error_code ignored;
  return {path, std::filesystem::file_size(path, ignored),
          std::filesystem::last_write_time(path, ignored)};
}

Result<std::string> ReadFile(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FailedTo("open", path);
  TUNEC_ASSIGN(const size_t size, SizeOfFile(file.get(), path));
  std::string bytes(size, '\0');
  size_t filled = 0;
  // Until the end of the file, which may have moved since its size was taken.
  while (true) {
    if (filled == bytes.size()) bytes.resize(bytes.size() + 4096);
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailedTo("read", path);
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes) {
  const FilePart whole{.offset = 0, .bytes = std::as_bytes(std::span(bytes))};
  return WriteFileAtomically(path, std::span(&whole, 1));
}

Status WriteFileAtomically(const std::filesystem::path& given, std::span<const FilePart> parts) {
  TUNEC_ASSIGN(const std::filesystem::path path, ReplaceablePath(given));
  std::string aside = path.string() + ".aside.XXXXXX";
  Descriptor file(::mkostemp(aside.data(), O_CLOEXEC));
  if (file.get() < 0) return FailedTo("create a file beside", path);
  const bool ok = WriteParts(file.get(), parts) && ::fchmod(file.get(), 0644) == 0 &&
                  ::fsync(file.get()) == 0 && file.Close() &&
                  ::rename(aside.c_str(), path.c_str()) == 0;
  if (ok) return {};
  auto failure = FailedTo("write", path);
  ::unlink(aside.c_str());
  return failure;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return FailedTo("open", path);
  TUNEC_ASSIGN(const size_t size, SizeOfFile(file.get(), path));
  std::span<const std::byte> bytes;
  if (size > 0) {
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) return FailedTo("map", path);
    bytes = {static_cast<const std::byte*>(memory), size};
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tunec
