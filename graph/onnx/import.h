// Import of ONNX models, from protobuf to a Graph. All data of a model is untrusted, so the import
// checks sizes, offsets, depths, names and paths. See graph/onnx/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/open_dimensions.h"
#include "ir/array.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec {

/// The spelling of recommended options in messages.
enum class OptionSpelling : uint8_t {
  kFlags,  // flags of the command, such as --dim past=31
  kJson,   // entries of a JSON object, such as "dims": {"past": 31}
};

/// The treatment of Slice and Pad nodes without effect at the imported sizes. With kRetained, such
/// nodes are imported, so that the graphs for different sizes do not differ in these nodes.
enum class NoOps : uint8_t { kDropped, kRetained };

struct ImportOptions {
  /// Shapes by input name, for inputs with dynamic dimensions.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Values by input name. These inputs become constants instead of inputs of the graph. Values
  /// that shapes depend on (the `shape` of a Reshape) must be constants while importing.
  std::map<std::string, Array> constants;
  /// Names of constants that are converted to the input's type. Each number must keep its value.
  std::set<std::string> untyped_constants = {};
  /// Sizes by the model's name of a dynamic dimension.
  std::map<std::string, int64_t> dims = {};
  /// Shapes of the arrays that the model will run on, by input name. They apply only to inputs that
  /// `shapes` omits and whose shape the model does not fix. Other names are ignored.
  std::map<std::string, std::vector<int64_t>> shapes_of_arrays = {};
  OptionSpelling spelling = OptionSpelling::kFlags;
  NoOps no_ops = NoOps::kDropped;
  /// Names of dynamic dimensions that stay named sizes in the graph. Nodes that need numbers
  /// instead are unsupported.
  std::set<std::string> named_dims = {};
};

/// Parses `name=1x3x224x224`, the value of the option --shape. `name=` is a scalar.
Result<std::pair<std::string, std::vector<int64_t>>> ParseShapeOption(std::string_view text);

/// Imports a model with opsets 1 to 28 of the default domain. Ensures: every dimension is fixed or
/// an expression of `named_dims`, shape arithmetic is resolved into attributes, and model-local
/// functions are inlined. Unsupported nodes make one error (kUnsupported). Dimensions without a
/// size make one error (kInvalidArgument) that lists all their inputs. Weights in the model's file
/// are copied once. Aligned weights in external files are not copied, and these files stay mapped
/// while the graph exists.
Result<Graph> ImportOnnx(const std::string& path, const ImportOptions& options);

/// Imports a model from memory, which may be freed afterwards. `name` replaces the file in
/// messages. External data is read from `data_folder`, and rejected without it.
Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, const std::string& name,
                              const ImportOptions& options,
                              const std::optional<std::string>& data_folder = {});

/// A model that is read once and imported for several sizes. The graphs share the model's weights.
/// Copies of an OnnxFile share the model.
class OnnxFile {
 public:
  /// Opens a model. External data is relative to `data_folder`, or by default to the folder of the
  /// path.
  static Result<OnnxFile> Open(const std::string& path,
                               const std::optional<std::string>& data_folder = {});
  /// Reads a model from memory; see ImportOnnxBytes.
  static Result<OnnxFile> FromBytes(std::span<const std::byte> bytes, const std::string& name,
                                    const std::optional<std::string>& data_folder = {});

  /// An input with its dimensions. Each dynamic dimension has a name; `x.0` if the file has none.
  /// An input of unknown rank has no dimensions.
  struct Input {
    std::string name;
    std::vector<Dim> dims;
  };
  std::vector<Input> Inputs() const;
  /// Returns the model with dimensions of the inputs renamed. Fails for a name that no input has.
  Result<OnnxFile> WithRenamedDims(const std::map<std::string, std::string>& names) const;
  Result<Graph> Import(const ImportOptions& options) const;
  /// Returns default sizes of the dynamic dimensions for which the options give no size.
  Result<DefaultSizes> DefaultSizesOf(const ImportOptions& options) const;
  /// Returns the stamps of the files of external weights, and of the model's file if the model was
  /// read from one. The stamps were taken before reading.
  std::vector<FileStamp> Files() const;

 private:
  struct Model;
  std::shared_ptr<const Model> model_;
};

}  // namespace tunec
