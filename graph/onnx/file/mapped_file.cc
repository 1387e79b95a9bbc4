#include "graph/onnx/file/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "support/descriptor.h"

namespace tunec::onnx_import {
namespace {

std::unexpected<Error> SystemError(const std::string& path) {
  const int number = errno;
  const ErrorCode code =
      number == ENOENT || number == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Fail(code, "cannot open '{}': {}", path, std::strerror(number));
}

/// Returns the parts of a relative path. Fails if the path is absolute, has a part '..', contains a
/// zero byte, or names no file.
Result<std::vector<std::string>> SplitLocation(const std::string& location) {
  const auto reject = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, "external data location '{}' {}", location, why);
  };
  if (location.empty()) return reject("is empty");
  if (location.contains('\0')) return reject("contains a zero byte");
  if (location.front() == '/') return reject("is absolute, expected a path in the model's folder");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= location.size();) {
    const size_t end = std::min(location.find('/', begin), location.size());
    const std::string part = location.substr(begin, end - begin);
    if (part == "..") return reject("contains '..', expected a path in the model's folder");
    if (!part.empty() && part != ".") parts.push_back(part);
    begin = end + 1;
  }
  if (parts.empty()) return reject("does not name a file");
  return parts;
}

/// Returns the path by which the system identifies a descriptor of this process.
std::string DescriptorPath(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

/// Returns the path of the open file or folder, with links resolved. Returns an empty path if the
/// path is unknown, for example without /proc.
std::string ResolvedPath(int descriptor) {
  std::error_code failed;
  std::string path = std::filesystem::read_symlink(DescriptorPath(descriptor), failed).string();
  return !failed && path.starts_with('/') ? path : "";
}

/// Returns whether the path is below the folder. Both paths must have no links.
bool IsBelow(std::string_view path, std::string_view folder) {
  if (folder.empty()) return false;
  if (folder.ends_with('/')) folder.remove_suffix(1);  // for the root folder
  return path.starts_with(folder) && path.substr(folder.size()).starts_with('/');
}

/// Opens the file at the path `parts`, one folder after the other. On failure sets errno and
/// returns an invalid descriptor. At a link, errno is ELOOP or ENOTDIR.
Descriptor OpenWithoutLinks(const Descriptor& folder, const std::vector<std::string>& parts) {
  Descriptor at;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int from = i == 0 ? folder.get() : at.get();
    const int flags = i + 1 == parts.size() ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY;
    at = Descriptor(openat(from, parts[i].c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    if (at.get() < 0) break;
  }
  return at;
}

/// Opens the file at the location and follows links. The file must be below one of the folders.
/// O_PATH finds the file without opening it, so a rejected device or pipe has no side effects. Then
/// the found file itself is opened, so nobody can replace it in between.
Result<Descriptor> OpenThroughLinks(const Descriptor& folder, const DataFolders& folders,
                                    const std::string& location) {
  const Descriptor found(openat(folder.get(), location.c_str(), O_PATH | O_CLOEXEC));
  if (found.get() < 0)
    return SystemError(fmt::format("{}/{}", folders.named.empty() ? "." : folders.named, location));
  const std::string path = ResolvedPath(found.get());
  if (path.empty())
    return Fail(ErrorCode::kInvalidArgument,
                "external data location '{}' is a link with an unknown target", location);
  if (!IsBelow(path, ResolvedPath(folder.get())) && !IsBelow(path, folders.resolved))
    return Fail(ErrorCode::kInvalidArgument,
                "external data location '{}' is a link to '{}', which is outside of the model's "
                "folder",
                location, path);
  Descriptor file(open(DescriptorPath(found.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return SystemError(path);
  return file;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::Map(int descriptor, const std::string& path) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return SystemError(path);
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is not a regular file", path);
  }
  const auto size = static_cast<size_t>(status.st_size);
  const std::byte* data = nullptr;
  if (size > 0) {  // the system rejects empty mappings
    void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) return SystemError(path);
    data = static_cast<const std::byte*>(address);
  }
  std::string folder = std::filesystem::path(ResolvedPath(descriptor)).parent_path().string();
  return std::shared_ptr<const MappedFile>(new MappedFile(std::move(folder), data, size));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return SystemError(path);
  return Map(file.get(), path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::OpenConfined(const DataFolders& folders,
                                                                   const std::string& location) {
  TUNEC_ASSIGN(const auto parts, SplitLocation(location));
  const std::string start = folders.named.empty() ? "." : folders.named;
  const Descriptor folder(open(start.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return SystemError(start);
  Descriptor file = OpenWithoutLinks(folder, parts);
  if (file.get() < 0 && (errno == ELOOP || errno == ENOTDIR)) {
    TUNEC_ASSIGN(file, OpenThroughLinks(folder, folders, location));
  }
  if (file.get() < 0) return SystemError(fmt::format("{}/{}", start, location));
  struct stat status;
  if (fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "external data file '{}' has {} hard links, expected one (another link may be elsewhere)",
        location, status.st_nlink);
  }
  return Map(file.get(), start + "/" + location);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace tunec::onnx_import
