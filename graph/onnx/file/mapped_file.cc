#include "graph/onnx/file/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace tunec::onnx_import {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  int value() const { return value_; }

 private:
  int value_;
};

std::unexpected<Error> SystemError(const std::string& path) {
  const int number = errno;
  const ErrorCode code =
      number == ENOENT || number == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Fail(code, "cannot open '{}': {}", path, std::strerror(number));
}

/// The parts of a relative path that stays below its start.
Result<std::vector<std::string>> SplitLocation(const std::string& location) {
  const auto refuse = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, "external data location '{}' {}", location, why);
  };
  if (location.empty()) return refuse("is empty");
  if (location.contains('\0')) return refuse("contains a zero byte");
  if (location.front() == '/') return refuse("is absolute, wanted a path in the model's folder");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= location.size();) {
    const size_t end = std::min(location.find('/', begin), location.size());
    const std::string part = location.substr(begin, end - begin);
    if (part == "..") return refuse("contains '..', wanted a path in the model's folder");
    if (!part.empty() && part != ".") parts.push_back(part);
    begin = end + 1;
  }
  if (parts.empty()) return refuse("names no file");
  return parts;
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
  if (size > 0) {  // an empty mapping is an error to the system, not to us
    void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) return SystemError(path);
    data = static_cast<const std::byte*>(address);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(data, size));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.value() < 0) return SystemError(path);
  return Map(file.value(), path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::OpenConfined(const std::string& folder,
                                                                   const std::string& location) {
  TUNEC_ASSIGN(const auto parts, SplitLocation(location));
  const std::string start = folder.empty() ? "." : folder;
  Descriptor at(open(start.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.value() < 0) return SystemError(start);
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const int flags = last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY;
    Descriptor next(openat(at.value(), parts[i].c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    if (next.value() < 0 && (errno == ELOOP || errno == ENOTDIR)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "external data location '{}' leads through '{}', which is a link or no folder",
                  location, parts[i]);
    }
    if (next.value() < 0) return SystemError(fmt::format("{}/{}", start, location));
    at = std::move(next);
  }
  struct stat status;
  if (fstat(at.value(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "external data file '{}' has {} hard links, wanted one (it may lie elsewhere)",
                location, status.st_nlink);
  }
  return Map(at.value(), start + "/" + location);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace tunec::onnx_import
