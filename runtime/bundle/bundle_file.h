// A bundle's file, opened: its sections, each found whole.
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
#include "support/file.h"

namespace tunec::bundle {

/// Whether bytes begin as a bundle does, of whatever version.
bool IsBundle(std::string_view bytes);

/// The sections of `file` after these checks: magic and version, the size of the file, hashes of
/// the table and of all sections, places in order and within the file, nothing but zeros between.
/// kUnsupported for a newer version, kParse for all else.
Result<std::vector<SectionEntry>> CheckSections(std::span<const std::byte> file, ThreadPool& pool);

class BundleFile {
 public:
  /// Errors: those of the file and of CheckSections.
  static Result<BundleFile> Open(const std::filesystem::path& path, ThreadPool& pool);

  uint32_t Variants() const { return variants_; }
  /// kParse where there is none; one of a kind and variant otherwise.
  Result<std::span<const std::byte>> Section(SectionKind kind, uint32_t variant) const;
  const std::shared_ptr<const MappedFile>& file() const { return file_; }
  const std::vector<SectionEntry>& sections() const { return sections_; }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<SectionEntry> sections_;
  uint32_t variants_ = 0;
};

}  // namespace tunec::bundle
