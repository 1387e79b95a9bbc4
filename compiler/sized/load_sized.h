// Loading of models whose dimensions have several sizes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
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

/// Loads a model like LoadModel (compiler.h), for options that give several sizes to some
/// dimension. These dimensions are dynamic. Layouts are ignored (see ApplySourceLayouts).
Result<SizedSource> LoadSizedModel(const std::string& path, const ModelOptions& options);

/// A model with fixed sizes, or a dynamic-shape model.
using AnyModel = std::variant<LoadedModel, SizedSource>;

/// Load models like LoadModelOfFiles and LoadModelBytes (compiler.h). Dimensions with several sizes
/// or without a given size are dynamic. A dynamic-shape model has no layouts yet (see
/// ApplySourceLayouts).
Result<AnyModel> LoadAnyModel(const std::string& path, const ModelOptions& options);
Result<AnyModel> LoadAnyModelBytes(std::span<const std::byte> bytes, std::string_view format,
                                   const ModelOptions& options);
/// Loads a text like LoadGraphText, with dynamic dimensions like LoadAnyModel. The model shares the
/// ownership of `weights`, which later graphs need.
Result<AnyModel> LoadAnyText(std::string_view text,
                             const std::shared_ptr<const WeightSource>& weights,
                             const ModelOptions& options);

/// Returns the model of a graph with its weights, with dynamic dimensions like LoadAnyModel.
/// Errors: a size below 0, or for a dimension that the graph does not have, and those of inference.
Result<AnyModel> LoadAnyGraph(const Graph& graph, const ModelOptions& options);

}  // namespace tunec
