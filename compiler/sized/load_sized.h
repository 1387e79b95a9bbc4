// ONNX models whose dimensions have several sizes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "compiler/compiler.h"
#include "compiler/sized/sized_source.h"
#include "support/error.h"

namespace tunec {

/// Whether some dimension is to have several sizes.
bool HasSeveralSizes(const ModelOptions& options);

/// LoadModel and LoadModelBytes (compiler.h) for such options: those dimensions are open. A .graph
/// states its own sizes: kInvalidArgument.
Result<SizedSource> LoadSizedModel(const std::string& path, const ModelOptions& options);
Result<SizedSource> LoadSizedModelBytes(std::span<const std::byte> bytes, std::string_view format,
                                        const ModelOptions& options);

}  // namespace tunec
