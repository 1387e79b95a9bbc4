// A bundle, opened: its sections, each found whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/bundle/format.h"
#include "runtime/thread_pool.h"
#include "support/error.h"
#include "support/watched_file.h"

namespace tunec::bundle {

/// Whether bytes begin as a bundle does, of whatever version.
bool IsBundle(std::string_view bytes);

/// The sections of `file` after these checks: magic and version, the size of the file, hashes of
/// the table and of all sections, places in order and within the file, nothing but zeros between.
/// kUnsupported for another version, kParse for all else.
Result<std::vector<SectionEntry>> CheckSections(std::span<const std::byte> file, ThreadPool& pool);

/// A bundle's bytes in memory: a file that is mapped, a part of a library, a test's buffer.
struct BundleBytes {
  std::span<const std::byte> bytes;   // from a page on
  std::shared_ptr<const void> owner;  // keeps them there, unchanged; null: someone else does
};

class BundleFile {
 public:
  /// Maps the file. Errors: those of the file and of CheckSections.
  static Result<BundleFile> Open(const std::filesystem::path& path, ThreadPool& pool);
  /// Errors: those of CheckSections.
  static Result<BundleFile> Read(BundleBytes bytes, ThreadPool& pool);

  uint32_t Variants() const { return variants_; }
  /// kParse where there is none; one of a kind and variant otherwise.
  Result<std::span<const std::byte>> Section(SectionKind kind, uint32_t variant) const;
  /// The same in memory of its own, for what is parsed: bytes that change under the reader's hands
  /// could say one thing when they are checked, and another when they are used.
  Result<std::vector<std::byte>> Copy(SectionKind kind, uint32_t variant) const;
  bool Has(SectionKind kind, uint32_t variant) const;
  std::span<const std::byte> bytes() const { return memory_.bytes; }
  const std::shared_ptr<const void>& owner() const { return memory_.owner; }
  /// What Open mapped, watched; null: the bytes are no file's.
  const std::shared_ptr<const WatchedFile>& file() const { return file_; }
  const std::vector<SectionEntry>& sections() const { return sections_; }

 private:
  BundleBytes memory_;
  std::shared_ptr<const WatchedFile> file_;
  std::vector<SectionEntry> sections_;
  uint32_t variants_ = 0;
};

}  // namespace tunec::bundle
