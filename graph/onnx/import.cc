#include "graph/onnx/import.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>

#include "graph/onnx/file/mapped_file.h"
#include "graph/onnx/file/model.h"
#include "graph/onnx/importer.h"

namespace tunec {
namespace {

using onnx_import::DataFolders;

/// Returns the folders of a model file's external data. `data_folder`, if given, replaces the
/// folder of `path`.
DataFolders FoldersOf(const std::string& path, const onnx_import::MappedFile& file,
                      const std::optional<std::string>& data_folder) {
  return {data_folder.value_or(std::filesystem::path(path).parent_path().string()), file.folder()};
}

/// Returns the folders of the external data of a model given as bytes, or nothing without a
/// `data_folder`.
std::optional<DataFolders> FoldersOf(const std::optional<std::string>& data_folder) {
  if (!data_folder) return std::nullopt;
  return DataFolders{.named = *data_folder, .resolved = ""};
}

Result<Graph> Import(std::span<const std::byte> bytes, const std::optional<DataFolders>& folders,
                     const ImportOptions& options) {
  TUNEC_ASSIGN(auto model, onnx_import::ParseModel(bytes, folders));
  TUNEC_ASSIGN(ImportOptions complete, onnx_import::WithShapesOfConstants(options));
  return onnx_import::Importer(std::move(model), std::move(complete)).Run();
}

/// Runs `import` and adds `name` to an error without a location. Turns exhausted memory into an
/// error, because a small hostile file can request large tensors.
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
  std::shared_ptr<const void> bytes;  // the mapped file; null for a model given as bytes
  onnx_import::OnnxModel model;
  std::vector<FileStamp> files;
};

Result<OnnxFile> OnnxFile::Open(const std::string& path,
                                const std::optional<std::string>& data_folder) {
  OnnxFile file;
  const Status read = InFile(path, [&]() -> Status {
    std::vector<FileStamp> files = {StampOf(path)};
    TUNEC_ASSIGN(const std::shared_ptr<const onnx_import::MappedFile> mapped,
                 onnx_import::MappedFile::Open(path));
    TUNEC_ASSIGN(auto model,
                 onnx_import::ParseModel(mapped->bytes(), FoldersOf(path, *mapped, data_folder)));
    files.insert(files.end(), model.external_files.begin(), model.external_files.end());
    file.model_ = std::make_shared<const Model>(path, mapped, std::move(model), std::move(files));
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return file;
}

Result<OnnxFile> OnnxFile::FromBytes(std::span<const std::byte> bytes, const std::string& name,
                                     const std::optional<std::string>& data_folder) {
  OnnxFile file;
  const Status read = InFile(name, [&]() -> Status {
    TUNEC_ASSIGN(auto model, onnx_import::ParseModel(bytes, FoldersOf(data_folder)));
    std::vector<FileStamp> files = model.external_files;
    file.model_ = std::make_shared<const Model>(name, nullptr, std::move(model), std::move(files));
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

Result<OnnxFile> OnnxFile::WithRenamedDims(const std::map<std::string, std::string>& names) const {
  std::set<std::string> known;
  for (const Input& input : Inputs())
    for (const Dim& dim : input.dims) known.merge(dim.Names());
  std::map<std::string, Dim> renamed;
  for (const auto& [from, to] : names) {
    for (const std::string& name : {from, to}) {
      if (!known.contains(name))
        return FailAt({model_->name, 0, 0}, ErrorCode::kInvalidArgument,
                      "no input has a dimension '{}'; the model's dynamic dimensions are {}", name,
                      fmt::join(known, ", "));
    }
    renamed.emplace(from, Dim::Named(to));
  }
  auto model = std::make_shared<Model>(*model_);
  for (onnx_import::OnnxValue& input : model->model.graph.inputs) {
    if (!input.dims) continue;
    for (Dim& dim : *input.dims) dim = Substitute(dim, renamed);
  }
  OnnxFile file;
  file.model_ = std::move(model);
  return file;
}

Result<Graph> OnnxFile::Import(const ImportOptions& options) const {
  return InFile(model_->name, [&]() -> Result<Graph> {
    TUNEC_ASSIGN(ImportOptions complete, onnx_import::WithShapesOfConstants(options));
    return onnx_import::Importer(model_->model, std::move(complete)).Run();
  });
}

Result<DefaultSizes> OnnxFile::DefaultSizesOf(const ImportOptions& options) const {
  return InFile(model_->name, [&]() -> Result<DefaultSizes> {
    TUNEC_ASSIGN(ImportOptions complete, onnx_import::WithShapesOfConstants(options));
    return onnx_import::DefaultSizesOf(model_->model.graph, std::move(complete));
  });
}

Result<Graph> ImportOnnx(const std::string& path, const ImportOptions& options) {
  return InFile(path, [&]() -> Result<Graph> {
    TUNEC_ASSIGN(const auto file, onnx_import::MappedFile::Open(path));
    return Import(file->bytes(), FoldersOf(path, *file, std::nullopt), options);
  });
}

Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, const std::string& name,
                              const ImportOptions& options,
                              const std::optional<std::string>& data_folder) {
  return InFile(name, [&] { return Import(bytes, FoldersOf(data_folder), options); });
}

}  // namespace tunec
