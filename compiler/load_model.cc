#include <algorithm>
#include <filesystem>

#include "compiler/compiler.h"
#include "graph/text/graph_text.h"
#include "runtime/npz.h"

namespace tunec {
namespace {

Result<Array> ReadConstant(const std::string& path) {
  TUNEC_ASSIGN(const NamedArray file, ReadNpy(path));
  Array array(file.spec.type, file.spec.shape);
  std::copy_n(file.bytes.data(), array.bytes(), array.mutable_data());
  return array;
}

Result<Graph> LoadOnnx(const std::string& path, const ModelOptions& options) {
  ImportOptions import{.shapes = options.shapes,
                       .constants = {},
                       .dims = options.dims,
                       .shapes_of_arrays = options.shapes_of_arrays,
                       .spelling = options.spelling};
  for (const auto& [name, file] : options.constants) {
    TUNEC_ASSIGN(Array array, ReadConstant(file));
    import.constants.emplace(name, std::move(array));
  }
  return ImportOnnx(path, import);
}

}  // namespace

Result<Graph> LoadModel(const std::string& path, const ModelOptions& options) {
  const std::filesystem::path file(path);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Fail(ErrorCode::kNotFound, "there is no file {}", path);
  }
  if (std::filesystem::is_directory(file, ignored)) {
    return Fail(ErrorCode::kInvalidArgument, "{} is a folder, wanted a model file", path);
  }
  if (file.extension() == ".onnx") {
    if (options.random_weights) {
      return Fail(ErrorCode::kInvalidArgument, "{}: an ONNX model has its own weights", path);
    }
    return LoadOnnx(path, options);
  }
  if (file.extension() == ".graph") {
    if (!options.shapes.empty() || !options.dims.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "{}: a .graph file states its shapes itself", path);
    }
    if (!options.constants.empty()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "{}: constants are bound to inputs of ONNX models, a .graph file states its own",
                  path);
    }
    return ReadGraphFile(file, options.random_weights);
  }
  return Fail(ErrorCode::kInvalidArgument, "{}: unknown kind of model, wanted .onnx or .graph",
              path);
}

}  // namespace tunec
