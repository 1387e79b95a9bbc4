#include "db/seal/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "db/cache_folder.h"
#include "support/descriptor.h"

namespace tunec {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr size_t kMostBytes = 256;  // bytes that are read; more than a key has

std::unexpected<Error> MakeSystemError(std::string_view action, const std::string& path) {
  return Fail(ErrorCode::kIo, "{}: cannot {}: {}", path, action, std::strerror(errno));
}

std::unexpected<Error> Distrust(const std::string& path, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument,
              "{}: {}, so it is not used as a key; remove it to make a new one", path, why);
}

/// Checks that the file is a regular file of this user, without access rights for other users.
Status CheckPrivate(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0) return MakeSystemError("inspect", path);
  if (!S_ISREG(status.st_mode)) return Distrust(path, "is not a regular file");
  if (status.st_uid != geteuid()) return Distrust(path, "belongs to another user");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return {};
  return Distrust(
      path, fmt::format("has mode {:04o}, expected {:04o}", status.st_mode & 07777, kOwnerOnly));
}

Result<std::string> ReadStart(int file, const std::string& path) {
  std::array<char, kMostBytes> bytes{};
  ssize_t count = -1;
  do {
    count = read(file, bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) return MakeSystemError("read", path);
  return std::string(bytes.data(), static_cast<size_t>(count));
}

/// Renames the finished file `aside` to `path` unless `path` exists. Returns false, with errno set,
/// if `path` exists or on another failure. Tries two ways, because some file systems have no hard
/// links, and others have no rename that preserves existing files.
bool Publish(const std::string& aside, const std::string& path) {
  if (link(aside.c_str(), path.c_str()) == 0) {
    unlink(aside.c_str());
    return true;
  }
  return errno != EEXIST &&
         renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0;
}

bool WriteWhole(int file, const std::string& text) {
  return write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
         fchmod(file, kOwnerOnly) == 0 && fsync(file) == 0;
}

/// Makes a key file at `path`, complete from its first moment on. Does not change a file that was
/// made there first; this is not an error.
Status MakeKeyFile(const std::string& path) {
  TUNEC_ASSIGN(const ObjectKey key, ObjectKey::Random());
  TUNEC_RETURN_IF_ERROR(MakePrivateFolders(std::filesystem::path(path).parent_path()));
  std::string aside = path + ".XXXXXX";
  const Descriptor file(mkostemp(aside.data(), O_CLOEXEC));
  if (file.get() < 0) return MakeSystemError("create", path);
  if (WriteWhole(file.get(), key.Text()) && Publish(aside, path)) return {};
  const bool other_was_first = errno == EEXIST;
  auto failure = MakeSystemError("create", path);
  unlink(aside.c_str());
  if (other_was_first) return {};
  return failure;
}

}  // namespace

Result<std::optional<ObjectKey>> FindObjectKey(const std::string& path) {
  if (path.empty()) {
    return Fail(ErrorCode::kNotFound,
                "no folder for the key of compiled objects: set HOME or XDG_CACHE_HOME");
  }
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (file.get() < 0 && errno == ELOOP) return Distrust(path, "is a link");
  if (file.get() < 0) return MakeSystemError("open", path);
  TUNEC_RETURN_IF_ERROR(CheckPrivate(file.get(), path));
  TUNEC_ASSIGN(const std::string text, ReadStart(file.get(), path));
  std::optional<ObjectKey> key = ObjectKey::Parse(text);
  if (!key) return Distrust(path, fmt::format("holds {} bytes that are not a key", text.size()));
  return key;
}

Result<ObjectKey> FindOrMakeObjectKey(const std::string& path) {
  TUNEC_ASSIGN(std::optional<ObjectKey> found, FindObjectKey(path));
  if (found) return *std::move(found);
  TUNEC_RETURN_IF_ERROR(MakeKeyFile(path));
  TUNEC_ASSIGN(found, FindObjectKey(path));
  if (found) return *std::move(found);
  return Fail(ErrorCode::kIo, "{}: was removed as soon as it was made", path);
}

}  // namespace tunec
