// Variants -> the file of a bundle.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/bundle/compile_variant.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec {

/// A bundle's bytes: parts in their order, with zeros between them.
struct BundleParts {
  std::vector<std::unique_ptr<std::string>> memory;  // what the parts lie in
  std::vector<FilePart> parts;
  uint64_t bytes = 0;
};
/// Constants of equal bytes are there once, also those of several variants. The first variants are
/// preferred when the bundle is loaded.
BundleParts MakeBundle(std::vector<BundleVariant> variants);

/// Writes the file so that nobody sees half of it; what was there is replaced, and who has it
/// loaded keeps the old one. kIo.
Status WriteBundle(const std::filesystem::path& path, std::vector<BundleVariant> variants);

}  // namespace tunec
