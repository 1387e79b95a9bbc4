#include "support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "support/descriptor.h"
#include "support/open_regular.h"

namespace tunec {
namespace {

bool WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

// Returns the path that a new file may be renamed to. A symbolic link is preserved: its target is
// replaced. Fails for folders. Fails for special files such as /dev/stdout, because a rename would
// replace such a file.
Result<std::filesystem::path> ReplaceablePath(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // same as the system's limit
  fs::path resolved = path;
  std::error_code failure;
  bool is_open_file = false;  // true: a link on the way is in /proc and may name a file that a
                              // process has open and would go on writing
  for (int i = 0; fs::is_symlink(resolved, failure) && i < kMostLinks; ++i) {
    is_open_file = is_open_file || resolved.native().starts_with("/proc/");
    const fs::path target = fs::read_symlink(resolved, failure);
    resolved = resolved.parent_path() / target;  // for an absolute target, the result is `target`
  }
  const fs::file_status status = fs::symlink_status(resolved, failure);
  const bool fits =
      status.type() == fs::file_type::not_found || (fs::is_regular_file(status) && !is_open_file);
  if (fits) return resolved;
  if (fs::is_directory(status)) return Fail(ErrorCode::kIo, "{} is a folder", path.string());
  return Fail(ErrorCode::kIo, "{} is not a regular file, so it can't be replaced", path.string());
}

// Returns the permissions of a file, or nullopt if it does not exist or cannot be inspected.
std::optional<mode_t> ModeOf(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return status.st_mode & 0777;
}

// A newly created file with its path.
struct NewFile {
  Descriptor file;
  std::string path;
};

// Creates a file with a random name beside `path`. open() applies the umask to `mode`; mkostemp
// has no parameter for a mode.
Result<NewFile> CreateBeside(const std::filesystem::path& path, mode_t mode) {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    uint64_t number = 0;
    if (::getentropy(&number, sizeof number) != 0) break;
    NewFile made{Descriptor(), fmt::format("{}.aside.{:016x}", path.string(), number)};
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    made.file = Descriptor(::open(made.path.c_str(), flags, mode));
    if (made.file.get() >= 0) return made;
    if (errno != EEXIST) break;
  }
  return MakeSystemError("create a file beside", path);
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
  TUNEC_ASSIGN(const OpenedFile opened, OpenRegular(path));
  std::string bytes(static_cast<size_t>(opened.status.st_size), '\0');
  size_t filled = 0;
  // Reads until the end of the file. The file may have grown or shrunk since its size was taken.
  while (true) {
    if (filled == bytes.size()) bytes.resize(bytes.size() + 4096);
    const ssize_t count = ::read(opened.file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return MakeSystemError("read", path);
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
  const std::optional<mode_t> mode = ModeOf(path);
  TUNEC_ASSIGN(auto made, CreateBeside(path, mode.value_or(0666)));
  auto& [file, aside] = made;
  const bool ok = WriteParts(file.get(), parts) && (!mode || ::fchmod(file.get(), *mode) == 0) &&
                  ::fsync(file.get()) == 0 && file.Close() &&
                  ::rename(aside.c_str(), path.c_str()) == 0;
  if (ok) return {};
  auto failure = MakeSystemError("write", path);
  ::unlink(aside.c_str());
  return failure;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::filesystem::path& path) {
  TUNEC_ASSIGN(const OpenedFile opened, OpenRegular(path));
  TUNEC_ASSIGN(const std::span<const std::byte> bytes, MapShared(opened, path));
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() { Unmap(bytes_); }

}  // namespace tunec
