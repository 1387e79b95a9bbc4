#include "support/watched_file.h"

#include <sys/stat.h>

#include <optional>

#include "support/open_regular.h"

namespace tunec {
namespace {

FileState StateOf(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .bytes = status.st_size,
          .written = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

// Returns the present state of the file. Returns nullopt if the descriptor does not refer to the
// opened file any more. A program that closes all descriptors also closes this one, and another
// file may have its number.
std::optional<FileState> StateNow(const Descriptor& file, const FileState& opened) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return {};
  const FileState now = StateOf(status);
  const bool is_same = now.device == opened.device && now.inode == opened.inode;
  return is_same ? std::optional(now) : std::nullopt;
}

}  // namespace

Result<std::shared_ptr<const WatchedFile>> WatchedFile::Open(const std::filesystem::path& path) {
  TUNEC_ASSIGN(OpenedFile opened, OpenRegular(path));
  TUNEC_ASSIGN(const std::span<const std::byte> bytes, MapShared(opened, path));
  return std::shared_ptr<const WatchedFile>(
      new WatchedFile(path, std::move(opened.file), StateOf(opened.status), bytes));
}

Status WatchedFile::CheckUnchanged() const {
  const std::optional<FileState> now = StateNow(file_, opened_);
  if (!now || *now == opened_) return {};
  return Fail(ErrorCode::kIo, "{} was changed while it was in use; load it again", path_.string());
}

WatchedFile::~WatchedFile() {
  Unmap(bytes_);
  if (!StateNow(file_, opened_)) (void)file_.Release();
}

}  // namespace tunec
