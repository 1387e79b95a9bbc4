// A parser of .npy files (numpy.lib.format, versions 1 to 3), and a writer of headers of version 1.
// Only numpy/ and its tests use this file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "numpy/npz.h"

namespace tunec {

/// Parses the bytes of a whole .npy file; the name stays empty. Fails with kParse, kUnsupported or,
/// without memory, kResourceLimit.
Result<NamedArray> ParseNpy(std::span<const std::byte> file);

/// Returns magic, version and header of a .npy file. The header is padded, so that the elements
/// begin at a multiple of 64 bytes.
std::string NpyHeader(const TensorSpec& spec);

}  // namespace tunec
