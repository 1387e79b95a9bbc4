#include <filesystem>

#include "compiler/compiler.h"
#include "graph/graph_text.h"
#include "graph/onnx/import.h"

namespace tunec {

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
    return ImportOnnx(path, {.shapes = options.shapes});
  }
  if (file.extension() == ".graph") {
    if (!options.shapes.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "{}: a .graph file states its shapes itself", path);
    }
    return ReadGraphFile(file, options.random_weights);
  }
  return Fail(ErrorCode::kInvalidArgument, "{}: unknown kind of model, wanted .onnx or .graph",
              path);
}

}  // namespace tunec
