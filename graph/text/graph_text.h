// Functions that parse the `.graph` text of a Graph (docs/reference/graph_format.md), and that read
// and write graph files. The function Print is declared in graph.h.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/text/weights.h"
#include "ir/size/size_expr.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec {

/// Sizes of the named dimensions of a text.
using GraphSizes = SizeValues;

/// Parses a graph. `weights` supplies the bytes of `weight` lines. A named size stays open if
/// `sizes` omits it. An open dimension of a constant or weight is an error. So is a size for a
/// dimension that the text does not contain. All other errors have file:line:column.
Result<Graph> ParseGraph(std::string_view text, std::string_view file_name,
                         const WeightSource& weights, const GraphSizes& sizes = {});

/// An axis of a graph's input. The size of the axis is a single dimension name.
struct NamedAxis {
  int input = 0;
  int axis = 0;
  std::string dimension;
};
/// Parses the text, and returns the input axes whose size is a single name that `sizes` contains.
/// Fails if the graph cannot be parsed.
Result<std::vector<NamedAxis>> NamedAxes(std::string_view text, std::string_view file_name,
                                         const WeightSource& weights, const GraphSizes& sizes);

/// Parses a type such as `f32[n, 3*h + 1]`. Layouts are rejected.
Result<ValueType> ParseValueType(std::string_view text);
/// Parses attributes as they are between the braces of an operation: `axes=[1], keepdims=0`. A
/// blank text has no attributes.
Result<Attributes> ParseAttributes(std::string_view text);
/// Parses the elements of a constant: `2` or `[1, 2]`. Requires: the type is fixed and possible
/// (IsPossible).
Result<Array> ParseElements(std::string_view text, const ValueType& type);

/// Returns the graph with the elements that `weights` has for its weights. Errors: those of the
/// source, with the weight's node.
Result<Graph> FillWeights(const Graph& graph, const WeightSource& weights);

/// A .graph file that is read once, from which graphs of several sizes are parsed. With a seed, the
/// weights are random numbers (RandomWeights). Otherwise the graphs share the weights of the file
/// of the same name with the extension .safetensors, if it exists. Copies of a GraphFile share the
/// text and the source of the weights.
class GraphFile {
 public:
  static Result<GraphFile> Open(const std::filesystem::path& path,
                                std::optional<uint64_t> random_weights_seed);

  const std::string& text() const { return *text_; }
  Result<Graph> At(const GraphSizes& sizes) const;
  /// Returns the stamps of the files that were read, taken before reading.
  const std::vector<FileStamp>& Files() const { return files_; }

 private:
  std::filesystem::path path_;
  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const WeightSource> weights_;
  std::vector<FileStamp> files_;
};

/// Reads the file and returns its graph at these sizes. Use GraphFile for several sizes.
Result<Graph> ReadGraphFile(const std::filesystem::path& path,
                            std::optional<uint64_t> random_weights_seed,
                            const GraphSizes& sizes = {});

/// Writes the text, and the weights beside it as .safetensors if there are any. Each file is
/// replaced atomically, the weights first.
Status WriteGraphFile(const Graph& graph, const std::filesystem::path& path);

}  // namespace tunec
