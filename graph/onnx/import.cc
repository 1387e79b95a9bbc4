#include "graph/onnx/import.h"

#include <algorithm>
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
auto InFile(const std::string& name, Function import) -> decltype(import()) {
  try {
    auto result = import();
    if (result) return result;
    Error error = std::move(result).error();
    if (!error.where) error.where = SourceLocation{name, 0, 0};
    return std::unexpected(std::move(error));
  } catch (const std::bad_alloc&) {
    return FailAt({name, 0, 0}, ErrorCode::kResourceLimit, "not enough memory to import the model");
  }
}

}  // namespace

struct OnnxFile::Model {
  std::string name;
  std::shared_ptr<const void> bytes;  // that external or mapped weights lie in
  onnx_import::OnnxModel model;
  std::vector<FileStamp> files;
};

Result<OnnxFile> OnnxFile::Open(const std::string& path) {
  OnnxFile file;
  const Status read = InFile(path, [&]() -> Status {
    std::vector<FileStamp> files = {StampOf(path)};
    TUNEC_ASSIGN(const std::shared_ptr<const onnx_import::MappedFile> mapped,
                 onnx_import::MappedFile::Open(path));
    const std::string folder = std::filesystem::path(path).parent_path().string();
    TUNEC_ASSIGN(auto model, onnx_import::ParseModel(mapped->bytes(), folder));
    files.insert(files.end(), model.external_files.begin(), model.external_files.end());
    file.model_ = std::make_shared<const Model>(path, mapped, std::move(model), std::move(files));
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return file;
}

Result<OnnxFile> OnnxFile::FromBytes(std::span<const std::byte> bytes, const std::string& name) {
  OnnxFile file;
  const Status read = InFile(name, [&]() -> Status {
    TUNEC_ASSIGN(auto model, onnx_import::ParseModel(bytes, std::nullopt));
    file.model_ =
        std::make_shared<const Model>(name, nullptr, std::move(model), std::vector<FileStamp>());
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return file;
}

std::vector<FileStamp> OnnxFile::Files() const { return model_->files; }

std::vector<OnnxFile::Input> OnnxFile::Inputs() const {
  std::vector<Input> inputs;
  const onnx_import::OnnxGraph& graph = model_->model.graph;
  for (const onnx_import::OnnxValue& input : graph.inputs) {
    const bool has_value = std::ranges::any_of(
        graph.initializers, [&](const auto& each) { return each.first == input.name; });
    if (!has_value) inputs.push_back({input.name, input.dims.value_or(std::vector<Dim>())});
  }
  return inputs;
}

Result<Graph> OnnxFile::Import(const ImportOptions& options) const {
  return InFile(model_->name, [&]() -> Result<Graph> {
    TUNEC_ASSIGN(ImportOptions complete, onnx_import::WithShapesOfConstants(options));
    return onnx_import::Importer(model_->model, std::move(complete)).Run();
  });
}

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
