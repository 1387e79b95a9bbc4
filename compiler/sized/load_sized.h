// Models whose dimensions have several sizes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/sized/sized_source.h"
#include "graph/text/weights.h"
#include "runtime/sized/choose_sizes.h"
#include "support/error.h"

namespace tunec {

/// Whether some dimension is to have several sizes.
bool HasSeveralSizes(const ModelOptions& options);

/// The sizes that code is asked for, of each dimension of the source. kInvalidArgument for less
/// than 1.
Result<std::vector<ListedSizes>> ListedSizesOf(const SizedSource& source,
                                               const ModelOptions& options);

/// LoadModel and LoadModelBytes (compiler.h) for such options: those dimensions are open.
Result<SizedSource> LoadSizedModel(const std::string& path, const ModelOptions& options);
Result<SizedSource> LoadSizedModelBytes(std::span<const std::byte> bytes, std::string_view format,
                                        const ModelOptions& options);

/// LoadGraphText for such options. `weights` is kept for as long as graphs are wanted.
Result<SizedSource> LoadSizedText(std::string_view text,
                                  std::shared_ptr<const WeightSource> weights,
                                  const ModelOptions& options);

}  // namespace tunec
