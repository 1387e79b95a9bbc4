// Loading of models from files and from memory. The format decides which reader is used and which
// options apply.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/compiler.h"
#include "compiler/sized/load_sized.h"
#include "graph/edge_layouts.h"
#include "graph/open_dimensions.h"
#include "graph/specialize.h"
#include "graph/text/graph_text.h"
#include "numpy/npz.h"
#include "support/file.h"
#include "support/lexer.h"
#include "support/trace.h"

namespace tunec {
namespace {

enum class ModelFormat : uint8_t { kOnnx, kGraph };

constexpr const char* kNameInMemory = "<memory>";

/// Appends the numbers of nested lists, in row-major order. Returns false unless the value has this
/// shape from its axis `axis` on.
bool AppendNumbers(const nlohmann::json& value, const std::vector<int64_t>& shape, size_t axis,
                   std::vector<nlohmann::json>& numbers) {
  if (axis == shape.size()) {
    numbers.push_back(value);
    const bool is_too_large =
        value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX};
    return (value.is_number() || value.is_boolean()) && !is_too_large;
  }
  if (!value.is_array() || static_cast<int64_t>(value.size()) != shape[axis]) return false;
  return std::ranges::all_of(value, [&](const nlohmann::json& part) {
    return AppendNumbers(part, shape, axis + 1, numbers);
  });
}

/// Returns the array of a number, a boolean or nested lists of equal lengths as JSON text. The type
/// is i64, or f64 if a number is no integer. Returns nullopt for other text.
std::optional<Array> ParseNumbers(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  constexpr size_t kMostAxes = 16;
  std::vector<int64_t> shape;
  for (const nlohmann::json* part = &json; part->is_array(); part = &part->front()) {
    shape.push_back(static_cast<int64_t>(part->size()));
    if (part->empty()) break;
    if (shape.size() > kMostAxes) return std::nullopt;
  }
  std::vector<nlohmann::json> numbers;
  if (!AppendNumbers(json, shape, 0, numbers)) return std::nullopt;
  const bool is_float = std::ranges::any_of(
      numbers, [](const nlohmann::json& number) { return number.is_number_float(); });
  Array array(is_float ? DataType::kF64 : DataType::kI64, shape);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (numbers[i].is_boolean()) {
      array.SetInt(at, numbers[i].get<bool>() ? 1 : 0);
    } else if (is_float) {
      array.SetDouble(at, numbers[i].get<double>());
    } else {
      array.SetInt(at, numbers[i].get<int64_t>());
    }
  }
  return array;
}

Result<Array> ReadConstant(const std::string& path) {
  TUNEC_ASSIGN(const NamedArray file, ReadNpy(path));
  Array array(file.spec.type, file.spec.shape);
  std::copy_n(file.bytes.data(), array.bytes(), array.mutable_data());
  return array;
}

Result<GraphSizes> OneOfEach(const std::map<std::string, DimSizes>& dims) {
  GraphSizes sizes;
  for (const auto& [name, dim] : dims) {
    if (!dim.same_as.empty()) continue;
    if (dim.IsOpen())
      return Fail(ErrorCode::kInvalidArgument, "dimension {} has {} sizes, expected one", name,
                  dim.sizes.size());
    sizes.emplace(name, dim.sizes[0]);
  }
  return sizes;
}

Result<ImportOptions> MakeImportOptions(const ModelOptions& options) {
  ImportOptions import{.shapes = options.shapes,
                       .constants = {},
                       .dims = {},
                       .shapes_of_arrays = options.shapes_of_arrays,
                       .spelling = options.spelling};
  // The caller's arrays have the shapes of the memory layouts. The importer needs logical shapes.
  for (auto& [name, shape] : import.shapes_of_arrays) {
    TUNEC_ASSIGN(const AxisOrder order, OrderOf(options.layouts, name, shape.size()));
    shape = LogicalShape(shape, order);
  }
  TUNEC_ASSIGN(const GraphSizes dims, OneOfEach(options.dims));
  import.dims.insert(dims.begin(), dims.end());
  for (const auto& [name, value] : options.constants) {
    if (std::optional<Array> numbers = ParseNumbers(value)) {
      import.constants.emplace(name, *std::move(numbers));
      import.untyped_constants.insert(name);
      continue;
    }
    TUNEC_ASSIGN(Array array, ReadConstant(value));
    import.constants.emplace(name, std::move(array));
  }
  return import;
}

std::vector<FileStamp> FilesOfConstants(const ModelOptions& options) {
  std::vector<FileStamp> files;
  for (const auto& [name, value] : options.constants)
    if (!ParseNumbers(value)) files.push_back(StampOf(value));
  return files;
}

std::optional<std::string> DataFolderOf(const ModelOptions& options) {
  if (options.external_data.empty()) return std::nullopt;
  return options.external_data;
}

// Fails if an option does not apply to a model of this format. `name` begins the messages.
Status CheckOptions(ModelFormat format, const std::string& name, const ModelOptions& options) {
  if (format == ModelFormat::kOnnx) {
    if (!options.random_weights) return {};
    return Fail(ErrorCode::kInvalidArgument, "{}: an ONNX model has its own weights", name);
  }
  for (const auto& [dim, sizes] : options.dims) {
    if (!sizes.same_as.empty())
      return Fail(
          ErrorCode::kInvalidArgument,
          "{}: dimension {} is {}, expected a size: a .graph file gives equal sizes one name", name,
          dim, sizes.same_as);
  }
  if (!options.shapes.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "{}: a .graph file states its shapes itself; its named dimensions may be given "
                "sizes",
                name);
  }
  if (!options.external_data.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "{}: external data is for ONNX models; a .graph file has a .safetensors file for "
                "its weights",
                name);
  }
  if (!options.constants.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "{}: constants are bound to inputs of ONNX models, a .graph file states its own",
                name);
  }
  return {};
}

Result<ModelFormat> FormatOfFile(const std::filesystem::path& file) {
  if (file.extension() == ".onnx") return ModelFormat::kOnnx;
  if (file.extension() == ".graph") return ModelFormat::kGraph;
  return Fail(ErrorCode::kInvalidArgument, "{}: unknown kind of model, expected .onnx or .graph",
              file.string());
}

// Returns whether a text begins with `graph` after blanks and comments, as a .graph text does. An
// ONNX model never begins so: its first byte is the tag of a field of ModelProto, and no tag is a
// blank, '#', '/' or 'g'.
bool BeginsAsGraphText(std::string_view text) {
  const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  for (;;) {
    text.remove_prefix(std::ranges::find_if_not(text, is_blank) - text.begin());
    if (!text.starts_with('#') && !text.starts_with("//")) return text.starts_with("graph");
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

Result<ModelFormat> FormatOfBytes(std::string_view bytes, std::string_view format) {
  if (format == "onnx") return ModelFormat::kOnnx;
  if (format == "graph") return ModelFormat::kGraph;
  if (format.empty()) return BeginsAsGraphText(bytes) ? ModelFormat::kGraph : ModelFormat::kOnnx;
  return Fail(ErrorCode::kInvalidArgument,
              "the format of the model is '{}', expected onnx or graph", format);
}

// A source that fails for every weight. It is for texts in memory without random weights.
class UnavailableWeights : public WeightSource {
 public:
  Result<Array> Reserve(const WeightRequest& request) const override {
    return Fail(
        ErrorCode::kNotFound,
        "weight {} has no data, expected random weights: a text in memory has no .safetensors file",
        request.name);
  }
};

/// Parses a text with random weights. Without their seed, fails if the text has weights.
Result<Graph> ParseText(std::string_view text, const ModelOptions& options,
                        const GraphSizes& sizes) {
  if (!options.random_weights) return ParseGraph(text, kNameInMemory, UnavailableWeights(), sizes);
  return ParseGraph(text, kNameInMemory, RandomWeights(*options.random_weights), sizes);
}

/// The dimensions with several sizes, each with its largest one, and the options without them.
struct OpenDims {
  SizedSource source;
  ModelOptions fixed;
};
OpenDims SplitDims(const ModelOptions& options) {
  OpenDims split{{}, options};
  std::erase_if(split.fixed.dims, [&](const auto& dim) {
    if (!dim.second.IsOpen()) return false;
    split.source.dimensions.push_back(dim.first);
    split.source.example.push_back(std::ranges::max(dim.second.sizes));
    return true;
  });
  return split;
}

Status RequireAxes(const SizedSource& source) {
  std::set<std::string> known;
  for (const OpenAxis& axis : source.open) known.insert(axis.dimension);
  for (const std::string& name : source.dimensions) {
    if (std::ranges::find(source.open, name, &OpenAxis::dimension) == source.open.end())
      return Fail(ErrorCode::kInvalidArgument,
                  "no input has the dimension {}; dynamic dimensions of inputs: {}", name,
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
  }
  return {};
}

/// Returns a function that gives numbers to the named sizes of a graph. At sizes for which an
/// assumption of the graph is false, it returns the result of `otherwise`.
std::function<Result<Graph>(const Sizes&)> NamedGraphs(
    Graph graph, std::vector<std::string> names,
    std::function<Result<Graph>(const Sizes&)> otherwise) {
  std::vector<SizeCondition> conditions = ConditionsOf(graph);
  return [graph = std::move(graph), conditions = std::move(conditions), names = std::move(names),
          otherwise = std::move(otherwise)](const Sizes& sizes) {
    SizeValues values;
    for (size_t d = 0; d < names.size(); ++d) values[names[d]] = sizes[d];
    const bool are_positive = std::ranges::all_of(sizes, [](int64_t size) { return size >= 1; });
    if (!are_positive || !AllHold(conditions, values)) return otherwise(sizes);
    Result<Graph> fixed = Specialize(graph, values);
    return fixed ? fixed : otherwise(sizes);
  };
}

/// Returns the file with its dimensions renamed as the options say.
Result<OnnxFile> WithSameDims(const OnnxFile& file, const ModelOptions& options) {
  std::map<std::string, std::string> names;
  for (const auto& [name, dim] : options.dims) {
    if (dim.same_as.empty()) continue;
    const auto other = options.dims.find(dim.same_as);
    if (dim.same_as == name || (other != options.dims.end() && !other->second.same_as.empty()))
      return Fail(ErrorCode::kInvalidArgument,
                  "dimension {} is {}, expected a dimension that is given a size or nothing", name,
                  dim.same_as);
    names.emplace(name, dim.same_as);
  }
  return names.empty() ? file : file.WithRenamedDims(names);
}

Result<OnnxFile> OpenOnnx(const std::string& path, const ModelOptions& options) {
  TUNEC_ASSIGN(const OnnxFile file, OnnxFile::Open(path, DataFolderOf(options)));
  return WithSameDims(file, options);
}

Result<OnnxFile> OpenOnnxBytes(std::span<const std::byte> bytes, const ModelOptions& options) {
  TUNEC_ASSIGN(const OnnxFile file,
               OnnxFile::FromBytes(bytes, kNameInMemory, DataFolderOf(options)));
  return WithSameDims(file, options);
}

/// Adds the dynamic dimensions of `sizes` that the source lacks.
void AddDimensions(const DefaultSizes& sizes, SizedSource& source) {
  for (const auto& [name, size] : sizes) {
    if (source.IndexOf(name) < source.dimensions.size()) continue;
    source.dimensions.push_back(name);
    source.example.push_back(size);
  }
}

/// Gives equal examples to dimensions that must be equal.
void MakeExampleConsistent(const Graph& named, SizedSource& source) {
  for (const SizeCondition& condition : ConditionsOf(named)) {
    const auto left = condition.left.AsName(), right = condition.right.AsName();
    if (condition.kind != SizeCondition::Kind::kEqual || !left || !right) continue;
    const size_t a = source.IndexOf(*left), b = source.IndexOf(*right);
    if (a == source.dimensions.size() || b == source.dimensions.size()) continue;
    source.example[a] = source.example[b] = std::max(source.example[a], source.example[b]);
  }
}

/// Completes a source whose dimensions are known, from an ONNX model.
Result<SizedSource> CompleteFromOnnx(const OnnxFile& file, const ModelOptions& options,
                                     const ImportOptions& import, SizedSource source) {
  ImportOptions named_import = import;
  named_import.named_dims.insert(source.dimensions.begin(), source.dimensions.end());
  // Without a graph with named sizes, the model is imported at each size.
  Result<Graph> named = file.Import(named_import);
  if (named) MakeExampleConsistent(*named, source);
  if (!named) source.unnamed = named.error().message;
  int number = -1;
  for (const OnnxFile::Input& input : file.Inputs()) {
    if (options.constants.contains(input.name)) continue;
    ++number;
    if (import.shapes.contains(input.name)) continue;
    for (size_t a = 0; a < input.dims.size(); ++a) {
      const std::optional<std::string> name = input.dims[a].AsName();
      if (name && source.IndexOf(*name) < source.dimensions.size())
        source.open.push_back({number, static_cast<int>(a), *name});
    }
  }
  TUNEC_RETURN_IF_ERROR(RequireAxes(source));
  source.graph_at = [file, import, names = source.dimensions](const Sizes& sizes) {
    ImportOptions at = import;
    at.no_ops = NoOps::kRetained;
    for (size_t d = 0; d < names.size(); ++d) at.dims[names[d]] = sizes[d];
    return file.Import(at);
  };
  if (named) {
    source.named = *named;
    source.graph_at = NamedGraphs(*std::move(named), source.dimensions, std::move(source.graph_at));
  }
  return source;
}

/// Returns a fixed model, or a source if dimensions have several sizes. If `any` is true,
/// dimensions without a given size are dynamic, too.
Result<AnyModel> ModelOf(const OnnxFile& file, const ModelOptions& options, bool any) {
  auto [source, fixed] = SplitDims(options);
  TUNEC_ASSIGN(const ImportOptions import, MakeImportOptions(fixed));
  if (any) {
    TUNEC_ASSIGN(const DefaultSizes open, file.DefaultSizesOf(import));
    AddDimensions(open, source);
  }
  if (!source.dimensions.empty()) return CompleteFromOnnx(file, options, import, std::move(source));
  LoadedModel loaded{.graph = {}, .files = file.Files()};
  TUNEC_ASSIGN(loaded.graph, file.Import(import));
  TUNEC_ASSIGN(loaded.graph, ApplyEdgeLayouts(loaded.graph, options.layouts));
  return loaded;
}

/// Returns the input axes whose size is a single name.
std::vector<OpenAxis> NamedAxesOf(const Graph& graph) {
  std::vector<OpenAxis> axes;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const std::vector<Dim>& dims = graph.value(graph.inputs()[i]).type.dims;
    for (size_t a = 0; a < dims.size(); ++a) {
      if (const std::optional<std::string> name = dims[a].AsName())
        axes.push_back({static_cast<int>(i), static_cast<int>(a), *name});
    }
  }
  return axes;
}

/// Returns the names of all sizes in the types and the attributes of a graph.
std::set<std::string> SizeNamesOf(const Graph& graph) {
  std::set<std::string> names;
  const auto add = [&](std::span<const SizeExpr> sizes) {
    for (const SizeExpr& size : sizes) names.merge(size.Names());
  };
  for (const Value& value : graph.values()) add(value.type.dims);
  for (const Node& node : graph.nodes())
    for (const auto& [name, attribute] : node.attributes) add(SizesOf(attribute));
  return names;
}

/// Completes `source` from a text that is no graph with named sizes: some operators accept none.
Status CompleteFromNumbers(std::string_view text, const std::string& name, GraphSizes sizes,
                           SizedSource& source) {
  for (size_t d = 0; d < source.dimensions.size(); ++d)
    sizes[source.dimensions[d]] = source.example[d];
  TUNEC_ASSIGN(const std::vector<NamedAxis> axes, NamedAxes(text, name, RandomWeights(0), sizes));
  for (const NamedAxis& axis : axes) source.open.push_back({axis.input, axis.axis, axis.dimension});
  return {};
}

/// Returns a fixed model, or a source if dimensions have several sizes. If `any` is true,
/// dimensions without a given size are dynamic, too. `graph_at` parses the text with the sizes of
/// some or all of its dimensions. A graph with named sizes is parsed once.
Result<AnyModel> ModelOfText(std::string_view text, const std::string& name,
                             const ModelOptions& options, bool any,
                             std::function<Result<Graph>(const GraphSizes&)> graph_at) {
  auto [source, fixed] = SplitDims(options);
  TUNEC_ASSIGN(const GraphSizes given, OneOfEach(fixed.dims));
  const Result<Graph> named = graph_at(given);
  if (named && any) {
    const DefaultSizes sizes = DefaultSizesOf(*named);
    // A run takes each size from an axis whose extent is the size.
    const std::vector<OpenAxis> axes = NamedAxesOf(*named);
    for (const auto& [size, example] : sizes)
      if (std::ranges::find(axes, size, &OpenAxis::dimension) == axes.end())
        return std::unexpected(RequireFixedSizes(*named).error());
    AddDimensions(sizes, source);
  }
  if (source.dimensions.empty()) {
    if (!named) return std::unexpected(named.error());
    LoadedModel loaded;
    TUNEC_ASSIGN(loaded.graph, ApplyEdgeLayouts(*named, options.layouts));
    return loaded;
  }
  if (named) {
    source.open = NamedAxesOf(*named);
    source.named = *named;
    graph_at = [graph = *named](const GraphSizes& sizes) { return Specialize(graph, sizes); };
  } else {
    source.unnamed = named.error().message;
    TUNEC_RETURN_IF_ERROR(CompleteFromNumbers(text, name, given, source));
  }
  std::erase_if(source.open, [&](const OpenAxis& axis) {
    return source.IndexOf(axis.dimension) == source.dimensions.size();
  });
  TUNEC_RETURN_IF_ERROR(RequireAxes(source));
  source.graph_at = [given, names = source.dimensions,
                     at = std::move(graph_at)](const Sizes& sizes) {
    GraphSizes all = given;
    for (size_t d = 0; d < names.size(); ++d) all[names[d]] = sizes[d];
    return at(all);
  };
  return source;
}

Result<LoadedModel> LoadOnnxFile(const std::string& path, const ModelOptions& options) {
  LoadedModel loaded;
  loaded.files = FilesOfConstants(options);
  TUNEC_ASSIGN(ImportOptions import, MakeImportOptions(options));
  TUNEC_ASSIGN(const OnnxFile file, OpenOnnx(path, options));
  const std::vector<FileStamp> read = file.Files();
  loaded.files.insert(loaded.files.end(), read.begin(), read.end());
  if (options.open_sizes != OpenSizes::kRejected) {
    TUNEC_ASSIGN(const DefaultSizes defaults, file.DefaultSizesOf(import));
    if (options.open_sizes == OpenSizes::kNamed && !defaults.empty()) {
      ImportOptions named = import;
      for (const auto& [name, size] : defaults) named.named_dims.insert(name);
      if (Result<Graph> graph = file.Import(named)) {
        loaded.graph = *std::move(graph);
        return loaded;
      }
    }
    loaded.default_sizes = defaults;
    import.dims.insert(defaults.begin(), defaults.end());
  }
  TUNEC_ASSIGN(loaded.graph, file.Import(import));
  return loaded;
}

Result<LoadedModel> LoadGraphFile(const std::string& path, const ModelOptions& options) {
  TUNEC_ASSIGN(const GraphSizes sizes, OneOfEach(options.dims));
  TUNEC_ASSIGN(const GraphFile file, GraphFile::Open(path, options.random_weights));
  LoadedModel loaded{.graph = {}, .files = file.Files()};
  TUNEC_ASSIGN(loaded.graph, file.At(sizes));
  if (options.open_sizes != OpenSizes::kDefault) return loaded;
  loaded.default_sizes = DefaultSizesOf(loaded.graph);
  if (loaded.default_sizes.empty()) return loaded;
  const DefaultSizes& defaults = loaded.default_sizes;
  TUNEC_ASSIGN(loaded.graph, Specialize(loaded.graph, {defaults.begin(), defaults.end()}));
  return loaded;
}

Status RequireNoRandomWeights(const ModelOptions& options) {
  if (!options.random_weights) return {};
  return Fail(ErrorCode::kInvalidArgument, "{}: weights are given, expected no random weights",
              kNameInMemory);
}

/// Returns the format of an existing file, to which all options apply.
Result<ModelFormat> FormatOfModel(const std::string& path, const ModelOptions& options) {
  const std::filesystem::path file(path);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Fail(ErrorCode::kNotFound, "there is no file {}", path);
  }
  if (std::filesystem::is_directory(file, ignored)) {
    return Fail(ErrorCode::kInvalidArgument, "{} is a folder, expected a model file", path);
  }
  TUNEC_ASSIGN(const ModelFormat format, FormatOfFile(file));
  TUNEC_RETURN_IF_ERROR(CheckOptions(format, path, options));
  return format;
}

Result<LoadedModel> LoadFile(const std::string& path, const ModelOptions& options) {
  TUNEC_ASSIGN(const ModelFormat format, FormatOfModel(path, options));
  return format == ModelFormat::kGraph ? LoadGraphFile(path, options) : LoadOnnxFile(path, options);
}

/// Returns a fixed model, or a source if dimensions have several sizes. If `any` is true,
/// dimensions without a given size are dynamic, too.
Result<AnyModel> LoadFileAs(const std::string& path, const ModelOptions& options, bool any) {
  TUNEC_ASSIGN(const ModelFormat format, FormatOfModel(path, options));
  std::vector<FileStamp> files;
  Result<AnyModel> model;
  if (format == ModelFormat::kGraph) {
    // The file is read now, since a run may need code for another size long after the file has
    // changed.
    TUNEC_ASSIGN(const GraphFile file, GraphFile::Open(path, options.random_weights));
    files = file.Files();
    model = ModelOfText(file.text(), path, options, any,
                        [file](const GraphSizes& sizes) { return file.At(sizes); });
  } else {
    files = FilesOfConstants(options);
    TUNEC_ASSIGN(const OnnxFile file, OpenOnnx(path, options));
    std::ranges::copy(file.Files(), std::back_inserter(files));
    model = ModelOf(file, options, any);
  }
  if (!model) return model;
  if (auto* loaded = std::get_if<LoadedModel>(&*model)) loaded->files = std::move(files);
  return model;
}

Result<Graph> LoadBytes(std::span<const std::byte> bytes, std::string_view format,
                        const ModelOptions& options) {
  if (bytes.empty()) return Fail(ErrorCode::kParse, "the model has no bytes");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TUNEC_ASSIGN(const ModelFormat known, FormatOfBytes(text, format));
  TUNEC_RETURN_IF_ERROR(CheckOptions(known, kNameInMemory, options));
  if (known == ModelFormat::kOnnx) {
    TUNEC_ASSIGN(const ImportOptions import, MakeImportOptions(options));
    TUNEC_ASSIGN(const OnnxFile file, OpenOnnxBytes(bytes, options));
    return file.Import(import);
  }
  TUNEC_ASSIGN(const GraphSizes sizes, OneOfEach(options.dims));
  return ParseText(text, options, sizes);
}

}  // namespace

Result<LoadedModel> LoadModelOfFiles(const std::string& path, const ModelOptions& options) {
  const TraceScope scope("read model");
  TUNEC_ASSIGN(LoadedModel loaded, LoadFile(path, options));
  TUNEC_ASSIGN(loaded.graph, ApplyEdgeLayouts(loaded.graph, options.layouts));
  return loaded;
}

Result<Graph> LoadModel(const std::string& path, const ModelOptions& options) {
  TUNEC_ASSIGN(LoadedModel loaded, LoadModelOfFiles(path, options));
  return std::move(loaded.graph);
}

bool HasSeveralSizes(const ModelOptions& options) {
  return std::ranges::any_of(options.dims, [](const auto& dim) { return dim.second.IsOpen(); });
}

Result<std::vector<ListedSizes>> ListedSizesOf(const SizedSource& source,
                                               const ModelOptions& options) {
  std::vector<ListedSizes> all;
  for (const std::string& name : source.dimensions) {
    ListedSizes& listed = all.emplace_back();
    const auto found = options.dims.find(name);
    if (found == options.dims.end() || found->second.sizes.empty()) continue;
    listed = {found->second.sizes, found->second.exact};
    std::ranges::sort(listed.sizes);
    listed.sizes.erase(std::ranges::unique(listed.sizes).begin(), listed.sizes.end());
    if (listed.sizes[0] < 1)
      return Fail(ErrorCode::kInvalidArgument, "dimension {} is {}, expected at least 1", name,
                  listed.sizes[0]);
  }
  return all;
}

Result<AnyModel> LoadAnyModel(const std::string& path, const ModelOptions& options) {
  return LoadFileAs(path, options, true);
}

Result<SizedSource> LoadSizedModel(const std::string& path, const ModelOptions& options) {
  TUNEC_ASSIGN(AnyModel model, LoadFileAs(path, options, false));
  return std::get<SizedSource>(std::move(model));
}

Result<AnyModel> LoadAnyModelBytes(std::span<const std::byte> bytes, std::string_view format,
                                   const ModelOptions& options) {
  if (bytes.empty()) return Fail(ErrorCode::kParse, "the model has no bytes");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TUNEC_ASSIGN(const ModelFormat known, FormatOfBytes(text, format));
  TUNEC_RETURN_IF_ERROR(CheckOptions(known, kNameInMemory, options));
  if (known == ModelFormat::kGraph)
    return ModelOfText(text, kNameInMemory, options, true,
                       [copy = std::string(text), options](const GraphSizes& sizes) {
                         return ParseText(copy, options, sizes);
                       });
  TUNEC_ASSIGN(const OnnxFile file, OpenOnnxBytes(bytes, options));
  return ModelOf(file, options, true);
}

Result<AnyModel> LoadAnyText(std::string_view text,
                             const std::shared_ptr<const WeightSource>& weights,
                             const ModelOptions& options) {
  TUNEC_RETURN_IF_ERROR(CheckOptions(ModelFormat::kGraph, kNameInMemory, options));
  TUNEC_RETURN_IF_ERROR(RequireNoRandomWeights(options));
  return ModelOfText(text, kNameInMemory, options, true,
                     [copy = std::string(text), weights](const GraphSizes& sizes) {
                       return ParseGraph(copy, kNameInMemory, *weights, sizes);
                     });
}

Result<AnyModel> LoadAnyGraph(const Graph& graph, const ModelOptions& options) {
  TUNEC_RETURN_IF_ERROR(CheckOptions(ModelFormat::kGraph, kNameInMemory, options));
  TUNEC_RETURN_IF_ERROR(RequireNoRandomWeights(options));
  const std::set<std::string> names = SizeNamesOf(graph);
  for (const auto& [name, dim] : options.dims) {
    if (!names.contains(name))
      return Fail(ErrorCode::kInvalidArgument,
                  "{}: a size is given for the dimension '{}', which the graph does not name",
                  kNameInMemory, name);
  }
  TUNEC_ASSIGN(const GraphSizes given, OneOfEach(SplitDims(options).fixed.dims));
  if (!given.empty()) TUNEC_RETURN_IF_ERROR(Specialize(graph, given));
  // The graph has named sizes for all dimensions without one size, so no text is needed.
  return ModelOfText("", kNameInMemory, options, true, [graph](const GraphSizes& sizes) {
    return sizes.empty() ? graph : Specialize(graph, sizes);
  });
}

Result<Graph> LoadModelBytes(std::span<const std::byte> bytes, std::string_view format,
                             const ModelOptions& options) {
  TUNEC_ASSIGN(const Graph graph, LoadBytes(bytes, format, options));
  return ApplyEdgeLayouts(graph, options.layouts);
}

Result<Graph> LoadGraphText(std::string_view text, const WeightSource& weights,
                            const ModelOptions& options) {
  TUNEC_RETURN_IF_ERROR(CheckOptions(ModelFormat::kGraph, kNameInMemory, options));
  TUNEC_RETURN_IF_ERROR(RequireNoRandomWeights(options));
  TUNEC_ASSIGN(const GraphSizes sizes, OneOfEach(options.dims));
  TUNEC_ASSIGN(const Graph graph, ParseGraph(text, kNameInMemory, weights, sizes));
  return ApplyEdgeLayouts(graph, options.layouts);
}

}  // namespace tunec
