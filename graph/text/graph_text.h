// The `.graph` text of a Graph (docs/reference/graph_format.md), and graphs in files. Print is declared
// in graph.h.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/text/weights.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec {

/// Numbers for the dimensions that a text names.
using GraphSizes = std::map<std::string, int64_t, std::less<>>;

/// Errors carry file:line:column. The bytes of `weight` lines come from `weights`. A dimension
/// without a number stays open; in an attribute, or as a part of a size, it is an error, and so is
/// a number for a dimension that the text does not name.
Result<Graph> ParseGraph(std::string_view text, std::string_view file_name,
                         const WeightSource& weights, const GraphSizes& sizes = {});

/// An axis of an input whose size is a dimension's name and nothing else.
struct NamedAxis {
  int input = 0;
  int axis = 0;
  std::string dimension;
};
/// Those of the text's inputs, for which `sizes` has numbers.
Result<std::vector<NamedAxis>> NamedAxes(std::string_view text, std::string_view file_name,
                                         const WeightSource& weights, const GraphSizes& sizes);

/// A .graph file that is read once, for graphs of several sizes; they share its weights. These come
/// from the random stream if a seed is given, else from the file of the same name with the
/// extension .safetensors, if there is one. Copies share what they hold.
class GraphFile {
 public:
  static Result<GraphFile> Open(const std::filesystem::path& path,
                                std::optional<uint64_t> random_weights_seed);

  const std::string& text() const { return *text_; }
  Result<Graph> At(const GraphSizes& sizes) const;
  /// What was read, from before that.
  const std::vector<FileStamp>& Files() const { return files_; }

 private:
  std::filesystem::path path_;
  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const WeightSource> weights_;
  std::vector<FileStamp> files_;
};

/// The graph of a file that is read for it alone.
Result<Graph> ReadGraphFile(const std::filesystem::path& path,
                            std::optional<uint64_t> random_weights_seed,
                            const GraphSizes& sizes = {});

/// Writes the text, and the weights beside it as .safetensors if there are any. Each file is
/// replaced at once, the weights first.
Status WriteGraphFile(const Graph& graph, const std::filesystem::path& path);

}  // namespace tunec
