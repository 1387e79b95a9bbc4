// Loading of models whose dimensions have several sizes.
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

/// Returns whether the options give several sizes, or a range, to some dimension.
bool HasSeveralSizes(const ModelOptions& options);

/// Returns the requested sizes of each dimension of the source. Fails with kInvalidArgument for a
/// size below 1.
Result<std::vector<ListedSizes>> ListedSizesOf(const SizedSource& source,
                                               const ModelOptions& options);

/// Load models like LoadModel and LoadModelBytes (compiler.h), for options that give several sizes
/// to some dimension. These dimensions are dynamic. Layouts are ignored (see ApplySourceLayouts).
Result<SizedSource> LoadSizedModel(const std::string& path, const ModelOptions& options);
Result<SizedSource> LoadSizedModelBytes(std::span<const std::byte> bytes, std::string_view format,
                                        const ModelOptions& options);

/// Loads a text like LoadGraphText, but treats dimensions and layouts like LoadSizedModel. The
/// source shares the ownership of `weights`, which later graphs need.
Result<SizedSource> LoadSizedText(std::string_view text,
                                  const std::shared_ptr<const WeightSource>& weights,
                                  const ModelOptions& options);

}  // namespace tunec
