// Sizes for the dynamic dimensions of the inputs. A given shape fixes the dimensions of its input,
// and all other dimensions with the same names.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "graph/onnx/importer.h"
#include "graph/open_dimensions.h"

namespace tunec::onnx_import {
namespace {

using Fixed = std::map<std::string, int64_t, std::less<>>;

std::string Text(const std::vector<Dim>& dims) {
  std::vector<std::string> parts;
  for (const Dim& dim : dims) parts.push_back(DimText(dim));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::vector<const OnnxValue*> FreeInputs(const OnnxGraph& graph) {
  std::set<std::string_view> constants;
  for (const auto& [name, array] : graph.initializers) constants.insert(name);
  std::vector<const OnnxValue*> inputs;
  for (const OnnxValue& input : graph.inputs) {
    if (!constants.contains(input.name)) inputs.push_back(&input);
  }
  return inputs;
}

/// Checks a given shape against the input and against the sizes in `fixed`. Adds the sizes of named
/// dimensions to `fixed`.
Status Apply(const OnnxValue& input, const std::vector<int64_t>& shape, Fixed& fixed) {
  const auto clash = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, "shape {} for input '{}' {} {}", fmt::join(shape, "x"),
                input.name, why, input.dims ? Text(*input.dims) : "");
  };
  for (const int64_t size : shape) {
    if (size < 0) return clash("has a negative size, expected");
  }
  if (!input.dims) return {};
  if (input.dims->size() != shape.size()) return clash("has another rank than the model's");
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& dim = (*input.dims)[i];
    if (dim.IsConstant()) {
      if (dim.Value() != shape[i]) return clash("does not fit the model's");
    } else if (const std::optional<std::string> name = dim.AsName()) {
      const auto [it, is_new] = fixed.emplace(*name, shape[i]);
      if (!is_new && it->second != shape[i]) {
        return Fail(ErrorCode::kInvalidArgument,
                    "dimension '{}' is given as {}, and as {} by the shape of input '{}'", *name,
                    it->second, shape[i], input.name);
      }
    }
  }
  return {};
}

/// Returns the names of dynamic dimensions, each once, in the order of the inputs.
std::vector<std::string> OpenNames(const std::vector<const OnnxValue*>& inputs) {
  std::vector<std::string> names;
  for (const OnnxValue* input : inputs) {
    if (!input->dims) continue;
    for (const Dim& dim : *input->dims) {
      const std::optional<std::string> name = dim.AsName();
      if (name && std::ranges::find(names, *name) == names.end()) names.push_back(*name);
    }
  }
  return names;
}

Result<Fixed> GivenDims(const std::vector<const OnnxValue*>& inputs, const ImportOptions& options) {
  const std::vector<std::string> names = OpenNames(inputs);
  Fixed fixed;
  for (const auto& [name, size] : options.dims) {
    if (std::ranges::find(names, name) == names.end()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "a size is given for the dimension '{}', which no input has; the model's open "
                  "dimensions are {}",
                  name,
                  names.empty() ? "without names" : fmt::format("{}", fmt::join(names, ", ")));
    }
    if (size < 0) {
      return Fail(ErrorCode::kInvalidArgument, "dimension '{}' is {}, expected at least 0", name,
                  size);
    }
    fixed.emplace(name, size);
  }
  return fixed;
}

using Shapes = std::map<std::string, std::vector<int64_t>>;

bool IsOpen(const OnnxValue& input) {
  return !input.dims || !std::ranges::all_of(*input.dims, &Dim::IsConstant);
}

/// Returns the shapes given as options, and the shapes of arrays for the other inputs whose shape
/// the model does not fix.
Shapes GivenShapes(const std::vector<const OnnxValue*>& inputs, const ImportOptions& options) {
  Shapes shapes = options.shapes;
  for (const OnnxValue* input : inputs) {
    const auto array = options.shapes_of_arrays.find(input->name);
    if (IsOpen(*input) && array != options.shapes_of_arrays.end()) shapes.insert(*array);
  }
  return shapes;
}

Result<Fixed> ApplyOptions(const std::vector<const OnnxValue*>& inputs, const Shapes& shapes,
                           Fixed fixed) {
  for (const auto& [name, shape] : shapes) {
    const auto it = std::ranges::find(inputs, name, &OnnxValue::name);
    if (it == inputs.end()) {
      std::vector<std::string> names;
      for (const OnnxValue* input : inputs) names.push_back("'" + input->name + "'");
      return Fail(
          ErrorCode::kInvalidArgument,
          "a shape or constant is given for '{}', which is not an input; the model's inputs are {}",
          name, fmt::join(names, ", "));
    }
    TUNEC_RETURN_IF_ERROR(Apply(**it, shape, fixed));
  }
  return fixed;
}

/// Returns the dimensions, with each name in `fixed` replaced by its size.
std::vector<Dim> WithFixed(std::vector<Dim> dims, const Fixed& fixed) {
  for (Dim& dim : dims) {
    const std::optional<std::string> name = dim.AsName();
    if (!name) continue;
    if (const auto size = fixed.find(*name); size != fixed.end()) dim = FixedDim(size->second);
  }
  return dims;
}

/// The inputs whose shapes are not fixed, and example options that would fix these shapes.
class OpenInputs {
 public:
  explicit OpenInputs(OptionSpelling spelling) : spelling_(spelling) {}

  void Add(const OnnxValue& input, const std::vector<Dim>& dims);
  void AddUnranked(const OnnxValue& input);
  Status Report() const;

 private:
  using NamedSize = std::pair<std::string, int64_t>;

  void AddNamed(const std::string& name, int64_t size);
  std::string Example() const;

  OptionSpelling spelling_;
  std::vector<std::string> open_;
  std::vector<NamedSize> dims_;
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes_;
};

void OpenInputs::Add(const OnnxValue& input, const std::vector<Dim>& dims) {
  open_.push_back(fmt::format("'{}' is {}", input.name, Text(dims)));
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (const std::optional<std::string> name = dims[axis].AsName())
      AddNamed(*name, DefaultSizeOf(axis, dims.size()));
}

void OpenInputs::AddNamed(const std::string& name, int64_t size) {
  if (std::ranges::find(dims_, name, &NamedSize::first) == dims_.end())
    dims_.emplace_back(name, size);
}

void OpenInputs::AddUnranked(const OnnxValue& input) {
  open_.push_back(fmt::format("'{}' of unknown rank", input.name));
  shapes_.emplace_back(input.name, std::vector<int64_t>{1, 3, 224, 224});
}

std::string OpenInputs::Example() const {
  std::vector<std::string> dims, shapes;
  const bool flags = spelling_ == OptionSpelling::kFlags;
  for (const auto& [name, size] : dims_)
    dims.push_back(flags ? fmt::format("--dim {}={}", name, size)
                         : fmt::format("\"{}\": {}", name, size));
  for (const auto& [name, shape] : shapes_)
    shapes.push_back(flags ? fmt::format("--shape {}={}", name, fmt::join(shape, "x"))
                           : fmt::format("\"{}\": [{}]", name, fmt::join(shape, ", ")));
  if (flags) {
    dims.insert(dims.end(), shapes.begin(), shapes.end());
    return fmt::format("{}", fmt::join(dims, " "));
  }
  std::string text;
  if (!dims.empty()) text += fmt::format("\"dims\": {{{}}}", fmt::join(dims, ", "));
  if (!shapes.empty())
    text += fmt::format("{}\"shapes\": {{{}}}", text.empty() ? "" : ", ", fmt::join(shapes, ", "));
  return text;
}

Status OpenInputs::Report() const {
  if (open_.empty()) return {};
  const char* arrays =
      spelling_ == OptionSpelling::kFlags ? ", or with arrays: run MODEL --inputs FILE.npz" : "";
  return Fail(ErrorCode::kInvalidArgument,
              "{} input{} open dimensions: {}; fix them, for example with {}{}", open_.size(),
              open_.size() == 1 ? " has" : "s have", fmt::join(open_, ", "), Example(), arrays);
}

}  // namespace

Result<ImportOptions> WithShapesOfConstants(ImportOptions options) {
  for (const auto& [name, array] : options.constants) {
    const auto [shape, is_new] = options.shapes.emplace(name, array.shape());
    if (!is_new && shape->second != array.shape()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "shape {} for input '{}' differs from its constant's shape {}",
                  fmt::join(shape->second, "x"), name, fmt::join(array.shape(), "x"));
    }
  }
  return options;
}

Result<std::map<std::string, std::vector<Dim>, std::less<>>> ResolveInputShapes(
    const OnnxGraph& graph, const ImportOptions& options) {
  const std::vector<const OnnxValue*> inputs = FreeInputs(graph);
  const Shapes given = GivenShapes(inputs, options);
  const auto may_stay = [&](const Dim& dim) {
    const std::optional<std::string> name = dim.AsName();
    return dim.IsConstant() || (name && options.named_dims.contains(*name));
  };
  TUNEC_ASSIGN(Fixed named, GivenDims(inputs, options));
  TUNEC_ASSIGN(const Fixed fixed, ApplyOptions(inputs, given, std::move(named)));
  std::map<std::string, std::vector<Dim>, std::less<>> shapes;
  OpenInputs open(options.spelling);
  for (const OnnxValue* input : inputs) {
    if (const auto shape = given.find(input->name); shape != given.end()) {
      shapes[input->name].assign(shape->second.begin(), shape->second.end());
    } else if (!input->dims) {
      open.AddUnranked(*input);
    } else if (const std::vector<Dim> dims = WithFixed(*input->dims, fixed);
               std::ranges::all_of(dims, may_stay)) {
      shapes[input->name] = dims;
    } else {
      open.Add(*input, dims);
    }
  }
  TUNEC_RETURN_IF_ERROR(open.Report());
  return shapes;
}

Result<DefaultSizes> DefaultSizesOf(const OnnxGraph& graph, ImportOptions options) {
  for (const std::string& name : OpenNames(FreeInputs(graph))) options.named_dims.insert(name);
  TUNEC_ASSIGN(const auto shapes, ResolveInputShapes(graph, options));
  DefaultSizes sizes;
  for (const OnnxValue* input : FreeInputs(graph)) {
    const std::vector<Dim>& dims = shapes.at(input->name);
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (const std::optional<std::string> name = dims[axis].AsName())
        sizes.emplace(*name, DefaultSizeOf(axis, dims.size()));
  }
  return sizes;
}

}  // namespace tunec::onnx_import

namespace tunec {

Result<std::pair<std::string, std::vector<int64_t>>> ParseShapeOption(std::string_view text) {
  const size_t equals = text.rfind('=');  // names of values may contain '='
  const auto fail = [&] {
    return Fail(ErrorCode::kInvalidArgument, "shape is '{}', expected name=1x3x224x224", text);
  };
  if (equals == std::string_view::npos || equals == 0) return fail();
  std::pair<std::string, std::vector<int64_t>> result;
  result.first = text.substr(0, equals);
  for (std::string_view rest = text.substr(equals + 1); !rest.empty();) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc() || size < 0) return fail();
    result.second.push_back(size);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (rest.empty()) break;
    if (rest.size() == 1 || (rest.front() != 'x' && rest.front() != ',')) return fail();
    rest.remove_prefix(1);
  }
  return result;
}

}  // namespace tunec
