// Functions that write the variants of a model to one file, which is called a bundle.
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

/// The content of a bundle: parts in ascending order of offsets. The bytes between parts are zeros.
struct BundleParts {
  std::vector<std::unique_ptr<std::string>> memory;  // owns bytes that the parts refer to
  std::vector<FilePart> parts;
  uint64_t bytes = 0;
};
/// Makes the bundle of the variants. Constants with equal bytes are stored once, also across
/// variants. A loader tries variants for devices first, then those for the host, in this order.
BundleParts MakeBundle(std::vector<BundleVariant> variants);

/// Writes the file atomically: a reader sees the old file or the complete new file. Programs that
/// have loaded the old file continue to use it. Errors: those of WriteFileAtomically.
Status WriteBundle(const std::filesystem::path& path, std::vector<BundleVariant> variants);

}  // namespace tunec
