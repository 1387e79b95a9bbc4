#include "graph/onnx/import.h"

#include <filesystem>
#include <new>
#include <optional>

#include "graph/onnx/file/mapped_file.h"
#include "graph/onnx/file/model.h"
#include "graph/onnx/importer.h"

namespace tunec {
namespace {

Result<Graph> Import(std::span<const std::byte> bytes, const std::optional<std::string>& folder,
                     const ImportOptions& options) {
  TUNEC_ASSIGN(auto model, onnx_import::ParseModel(bytes, folder));
  TUNEC_ASSIGN(ImportOptions complete, onnx_import::WithShapesOfConstants(options));
  return onnx_import::Importer(std::move(model), std::move(complete)).Run();
}

/// Adds the file to an error, and turns exhausted memory, which a small hostile file can cause
/// by asking for large tensors, into an error.
template <class Function>
Result<Graph> InFile(const std::string& name, Function import) {
  try {
    Result<Graph> graph = import();
    if (graph) return graph;
    Error error = std::move(graph).error();
    if (!error.where) error.where = SourceLocation{name, 0, 0};
    return std::unexpected(std::move(error));
  } catch (const std::bad_alloc&) {
    return FailAt({name, 0, 0}, ErrorCode::kResourceLimit, "not enough memory to import the model");
  }
}

}  // namespace

Result<Graph> ImportOnnx(const std::string& path, const ImportOptions& options) {
  return InFile(path, [&]() -> Result<Graph> {
    TUNEC_ASSIGN(const auto file, onnx_import::MappedFile::Open(path));
    return Import(file->bytes(), std::filesystem::path(path).parent_path().string(), options);
  });
}

Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, const std::string& name,
                              const ImportOptions& options) {
  return InFile(name, [&] { return Import(bytes, std::nullopt, options); });
}

}  // namespace tunec
