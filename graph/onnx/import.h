// Reading ONNX models: protobuf in, Graph out. What a model cannot be trusted with (sizes,
// offsets, depths, names, paths) is checked here; see docs in graph/onnx/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec {

/// How messages spell the options that they recommend.
enum class OptionSpelling : uint8_t {
  kFlags,  // --dim past=31
  kJson,   // "dims": {"past": 31}
};

/// What becomes of nodes that do nothing at the sizes that are imported: slices of everything, pads
/// of nothing. Kept, the graphs of all sizes have the same nodes.
enum class NoOps : uint8_t { kDropped, kKept };

struct ImportOptions {
  /// By input name: the shape, for inputs whose dimensions the model leaves open.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// By input name: its value, for inputs that are no inputs of the graph but constants. What
  /// shapes depend on (the `shape` of a Reshape) has to be known while importing.
  std::map<std::string, Array> constants;
  /// By the name that the model gives an open dimension: its size.
  std::map<std::string, int64_t> dims = {};
  /// As `shapes`, for those inputs alone that have open dimensions; other names are passed over.
  std::map<std::string, std::vector<int64_t>> shapes_of_arrays = {};
  OptionSpelling spelling = OptionSpelling::kFlags;
  NoOps no_ops = NoOps::kDropped;
};

/// Reads `name=1x3x224x224`, the text of the option --shape; `name=` is a scalar.
Result<std::pair<std::string, std::vector<int64_t>>> ParseShapeOption(std::string_view text);

/// Imports a model of the default domain's opsets 1 to 28. Ensures: every dimension fixed, shape
/// arithmetic resolved into attributes, model-local functions inlined, the graph not yet
/// simplified otherwise. Unsupported nodes make one error (kUnsupported) that lists them all;
/// open dimensions one error (kInvalidArgument) that lists all such inputs. Weights are copied
/// once, those in external files not at all: such a file stays mapped while the graph lives.
Result<Graph> ImportOnnx(const std::string& path, const ImportOptions& options);

/// The same from memory, which may go afterwards. `name` stands for the file in messages. External
/// data lies below `data_folder`, and is refused without one.
Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, const std::string& name,
                              const ImportOptions& options,
                              const std::optional<std::string>& data_folder = {});

/// A model that is read once and imported at several sizes; its weights are shared by the graphs.
/// Copies share what they hold.
class OnnxFile {
 public:
  /// External data is opened by its name in `data_folder`; without one, in the folder of the path.
  static Result<OnnxFile> Open(const std::string& path,
                               const std::optional<std::string>& data_folder = {});
  /// See ImportOnnxBytes.
  static Result<OnnxFile> FromBytes(std::span<const std::byte> bytes, const std::string& name,
                                    const std::optional<std::string>& data_folder = {});

  /// The inputs with their open dimensions by name; those without a name are called "".
  struct Input {
    std::string name;
    std::vector<Dim> dims;
  };
  std::vector<Input> Inputs() const;
  Result<Graph> Import(const ImportOptions& options) const;
  /// Returns the files of the weights, and the model's file unless the model was bytes. The stamps
  /// are from before reading.
  std::vector<FileStamp> Files() const;

 private:
  struct Model;
  std::shared_ptr<const Model> model_;
};

}  // namespace tunec
