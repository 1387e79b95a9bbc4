// The `.graph` text of a Graph (docs/graph_format.md), and graphs in files. Print is declared
// in graph.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "graph/graph.h"
#include "graph/text/weights.h"

namespace tunec {

/// Errors carry file:line:column. The bytes of `weight` lines come from `weights`.
Result<Graph> ParseGraph(std::string_view text, std::string_view file_name,
                         const WeightSource& weights);

/// Reads a .graph file. Its weights come from the random stream if a seed is given, else from
/// the file of the same name with the extension .safetensors, if there is one.
Result<Graph> ReadGraphFile(const std::filesystem::path& path,
                            std::optional<uint64_t> random_weights_seed);

/// Writes the text, and the weights beside it as .safetensors if there are any. Each file is
/// replaced at once, the weights first.
Status WriteGraphFile(const Graph& graph, const std::filesystem::path& path);

}  // namespace tunec
