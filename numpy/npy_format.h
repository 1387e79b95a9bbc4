// Private to runtime/: the .npy format (numpy.lib.format, versions 1 to 3).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "numpy/npz.h"

namespace tunec {

/// Parses the bytes of a whole .npy file; the name stays empty. kParse, kUnsupported.
Result<NamedArray> ParseNpy(std::span<const std::byte> file);

/// Magic, version and header, up to where the elements begin, a multiple of 64.
std::string NpyHeader(const TensorSpec& spec);

}  // namespace tunec
