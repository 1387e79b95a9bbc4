// An open bundle with its checked sections.
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

/// Returns whether bytes begin like a bundle of any version.
bool IsBundle(std::string_view bytes);

/// Returns the sections of `file` after checks of the header, of the table and of all hashes. Kinds
/// of sections must be known, sections must be in order up to the end of the file, and only zeros
/// may be between sections. Fails with kUnsupported for another version, otherwise with kParse.
Result<std::vector<SectionEntry>> CheckSections(std::span<const std::byte> file, ThreadPool& pool);

/// A bundle's bytes in memory: a mapped file, a part of a library, or a test's buffer.
struct BundleBytes {
  std::span<const std::byte> bytes;  // aligned to a page
  // Owner that keeps the bytes in memory; null: the caller keeps them there.
  std::shared_ptr<const void> owner;
};

/// The bytes and the checked table of sections of a bundle.
class BundleFile {
 public:
  /// Maps the file and checks the sections. Errors: those of WatchedFile::Open and of Read.
  static Result<BundleFile> Open(const std::filesystem::path& path, ThreadPool& pool);
  /// Opens a bundle in memory. Errors: those of CheckSections, and kParse for a wrong set of
  /// sections.
  static Result<BundleFile> Read(BundleBytes bytes, ThreadPool& pool);

  uint32_t Variants() const { return variants_; }
  /// Returns the only section of this kind and variant. Fails with kParse if it does not exist.
  Result<std::span<const std::byte>> Section(SectionKind kind, uint32_t variant) const;
  /// Returns a copy of the section for a parser. Without a copy, the file could change between a
  /// check and a use of its bytes.
  Result<std::vector<std::byte>> Copy(SectionKind kind, uint32_t variant) const;
  bool Has(SectionKind kind, uint32_t variant) const;
  std::span<const std::byte> bytes() const { return memory_.bytes; }
  const std::shared_ptr<const void>& owner() const { return memory_.owner; }
  /// Returns the watched file that Open mapped; null after Read.
  const std::shared_ptr<const WatchedFile>& file() const { return file_; }
  const std::vector<SectionEntry>& sections() const { return sections_; }

 private:
  BundleBytes memory_;
  std::shared_ptr<const WatchedFile> file_;
  std::vector<SectionEntry> sections_;
  uint32_t variants_ = 0;
};

}  // namespace tunec::bundle
