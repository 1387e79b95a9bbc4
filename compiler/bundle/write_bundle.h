// Variants -> the file of a bundle.
#pragma once

#include <filesystem>
#include <vector>

#include "compiler/bundle/compile_variant.h"
#include "support/error.h"

namespace tunec {

/// Writes the file so that nobody sees half of it; what was there is replaced, and who has it
/// loaded keeps the old one. Constants of equal bytes are written once, also those of several
/// variants. The first variants are preferred when the bundle is loaded. kIo.
Status WriteBundle(const std::filesystem::path& path, std::vector<BundleVariant> variants);

}  // namespace tunec
