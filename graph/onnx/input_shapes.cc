// Open dimensions of the inputs. An option fixes those of its own input, and with them every
// dimension elsewhere that has the same name.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "graph/onnx/importer.h"

namespace tunec::onnx_import {
namespace {

using Fixed = std::map<std::string, int64_t, std::less<>>;

std::string Text(const std::vector<Dim>& dims) {
  std::vector<std::string> parts;
  for (const Dim& dim : dims) {
    parts.push_back(dim.IsFixed()             ? fmt::format("{}", dim.size())
                    : dim.parameter().empty() ? "?"
                                              : dim.parameter());
  }
  return fmt::format("{}", fmt::join(parts, "x"));
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

/// Checks one option against its input and notes the parameters that it fixes.
Status Apply(const OnnxValue& input, const std::vector<int64_t>& shape, Fixed& fixed) {
  const auto clash = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, "shape {} for input '{}' {} {}", fmt::join(shape, "x"),
                input.name, why, input.dims ? Text(*input.dims) : "");
  };
  for (const int64_t size : shape) {
    if (size < 0) return clash("has a negative size, wanted");
  }
  if (!input.dims) return {};
  if (input.dims->size() != shape.size()) return clash("has another rank than the model's");
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& dim = (*input.dims)[i];
    if (dim.IsFixed()) {
      if (dim.size() != shape[i]) return clash("does not fit the model's");
    } else if (!dim.parameter().empty()) {
      const auto [it, is_new] = fixed.emplace(dim.parameter(), shape[i]);
      if (!is_new && it->second != shape[i]) {
        return Fail(ErrorCode::kInvalidArgument,
                    "dimension '{}' is {} in one shape option and {} in that of input '{}'",
                    dim.parameter(), it->second, shape[i], input.name);
      }
    }
  }
  return {};
}

Result<Fixed> ApplyOptions(const std::vector<const OnnxValue*>& inputs,
                           const ImportOptions& options) {
  Fixed fixed;
  for (const auto& [name, shape] : options.shapes) {
    const auto it = std::ranges::find(inputs, name, &OnnxValue::name);
    if (it == inputs.end()) {
      std::vector<std::string> names;
      for (const OnnxValue* input : inputs) names.push_back("'" + input->name + "'");
      return Fail(
          ErrorCode::kInvalidArgument,
          "a shape or constant is given for '{}', which is no input; the model's inputs are {}",
          name, fmt::join(names, ", "));
    }
    TUNEC_RETURN_IF_ERROR(Apply(**it, shape, fixed));
  }
  return fixed;
}

/// The example that the error shows: unknown dimensions as 1.
std::string Option(const OnnxValue& input, const std::vector<Dim>& dims) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : dims) sizes.push_back(dim.IsFixed() ? dim.size() : 1);
  return fmt::format("--shape {}={}", input.name, fmt::join(sizes, "x"));
}

}  // namespace

Result<ImportOptions> WithShapesOfConstants(ImportOptions options) {
  for (const auto& [name, array] : options.constants) {
    const auto [shape, is_new] = options.shapes.emplace(name, array.shape());
    if (!is_new && shape->second != array.shape()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "shape {} for input '{}' is not that of its constant, {}",
                  fmt::join(shape->second, "x"), name, fmt::join(array.shape(), "x"));
    }
  }
  return options;
}

Result<std::map<std::string, std::vector<int64_t>, std::less<>>> ResolveInputShapes(
    const OnnxGraph& graph, const ImportOptions& options) {
  const std::vector<const OnnxValue*> inputs = FreeInputs(graph);
  TUNEC_ASSIGN(const Fixed fixed, ApplyOptions(inputs, options));
  std::map<std::string, std::vector<int64_t>, std::less<>> shapes;
  std::vector<std::string> open;
  std::vector<std::string> examples;
  for (const OnnxValue* input : inputs) {
    const auto given = options.shapes.find(input->name);
    if (given != options.shapes.end()) {
      shapes[input->name] = given->second;
      continue;
    }
    if (!input->dims) {
      open.push_back(fmt::format("'{}' of unknown rank", input->name));
      examples.push_back(fmt::format("--shape {}=1x3x224x224", input->name));
      continue;
    }
    std::vector<Dim> dims;
    for (const Dim& dim : *input->dims) {
      const auto it = dim.IsFixed() ? fixed.end() : fixed.find(dim.parameter());
      if (it == fixed.end()) {
        dims.push_back(dim);
      } else {
        dims.emplace_back(it->second);
      }
    }
    if (std::ranges::all_of(dims, &Dim::IsFixed)) {
      for (const Dim& dim : dims) shapes[input->name].push_back(dim.size());
      shapes.try_emplace(input->name);  // a scalar
    } else {
      open.push_back(fmt::format("'{}' is {}", input->name, Text(dims)));
      examples.push_back(Option(*input, dims));
    }
  }
  if (!open.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} input(s) have open dimensions: {}; fix them, for example with {}", open.size(),
                fmt::join(open, ", "), fmt::join(examples, " "));
  }
  return shapes;
}

}  // namespace tunec::onnx_import

namespace tunec {

Result<std::pair<std::string, std::vector<int64_t>>> ParseShapeOption(std::string_view text) {
  const size_t equals = text.rfind('=');  // names of values may contain '='
  const auto fail = [&] {
    return Fail(ErrorCode::kInvalidArgument, "shape is '{}', wanted name=1x3x224x224", text);
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
