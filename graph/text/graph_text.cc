// The printer of the text format .graph, and functions that read and write graph files.
#include "graph/text/graph_text.h"

#include <cmath>

#include "graph/text/graph_text_names.h"
#include "ir/size/size_text.h"
#include "ir/text/layout_text.h"
#include "ir/text/print_expr.h"
#include "support/file.h"

namespace tunec {
namespace {

std::string PrintDims(const std::vector<Dim>& dims) {
  std::string text;
  for (const Dim& dim : dims) {
    if (!text.empty()) text += ", ";
    text += Print(dim, PrintGraphName);
  }
  return text;
}

/// Returns text such as `f32[64, batch] layout ...`.
std::string PrintType(const Value& value) {
  std::string text = fmt::format("{}[{}]", Name(value.type.type), PrintDims(value.type.dims));
  if (!value.layout.IsRowMajor()) text += " " + PrintLayout(value.layout, value.type.dims.size());
  return text;
}

struct AttributeText {
  // A name in quotes is a string, unless it is a part of a list or in parentheses.
  std::string operator()(const SizeExpr& value) const {
    const std::string text = Print(value, PrintGraphName);
    return text.starts_with('"') ? fmt::format("({})", text) : text;
  }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return PrintDouble(value); }
  std::string operator()(const std::string& value) const { return Quote(value); }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text;
    for (const T& value : values) text += (text.empty() ? "" : ", ") + (*this)(value);
    return "[" + text + "]";
  }
};

std::string PrintAttributes(const Attributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes)
    text += fmt::format("{}{}={}", text.empty() ? " {" : ", ", name,
                        std::visit(AttributeText(), value));
  return text.empty() ? text : text + "}";
}

/// Returns text that reproduces the element, except the sign and the payload of a NaN.
std::string PrintElement(const Array& array, int64_t i) {
  if (!IsFloat(array.type())) return fmt::format("{}", array.GetInt(i));
  const double value = array.GetDouble(i);
  if (array.type() != DataType::kF32 || std::isnan(value)) return PrintDouble(value);
  std::string text = fmt::format("{}", array.As<float>()[i]);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string PrintElements(const Array& array) {
  if (array.shape().empty()) return PrintElement(array, 0);
  std::string text = "[";
  for (int64_t i = 0; i < array.size(); ++i) text += (i > 0 ? ", " : "") + PrintElement(array, i);
  return text + "]";
}

std::string PrintConstant(const Node& node, const Value& value) {
  const std::string name = PrintGraphName(value.name);
  if (node.weight_name.empty())
    return fmt::format("constant {}: {} = {}", name, PrintType(value),
                       PrintElements(node.constant));
  std::string text = fmt::format("weight {}: {}", name, PrintType(value));
  if (node.weight_name != value.name) text += " from " + Quote(node.weight_name);
  if (node.Has("init")) text += " init=" + node.String("init");
  return text;
}

void PrintGraph(const Graph& graph, std::string_view indent, std::string& text);

std::string PrintOperation(const Graph& graph, const Node& node, const std::string& indent) {
  std::string text, types;
  for (const ValueId output : node.outputs) {
    text += (text.empty() ? "" : ", ") + PrintGraphName(graph.value(output).name);
    types += (types.empty() ? ": " : ", ") + PrintType(graph.value(output));
  }
  if (!text.empty()) text += " = ";
  text += fmt::format("{}(", Name(node.op));
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i > 0) text += ", ";
    text += node.inputs[i].valid() ? PrintGraphName(graph.value(node.inputs[i]).name) : "_";
  }
  text += ")" + PrintAttributes(node.attributes);
  const std::string implied =
      node.outputs.empty() ? std::string(Name(node.op)) : graph.value(node.outputs[0]).name;
  if (node.name != implied) text += " as " + Quote(node.name);
  text += types;
  for (const auto& body : node.bodies) {
    text += " ";
    PrintGraph(*body, indent, text);
  }
  return text;
}

void PrintGraph(const Graph& graph, std::string_view indent, std::string& text) {
  const std::string inner = std::string(indent) + "  ";
  text += fmt::format("graph {} {{\n", PrintGraphName(graph.name()));
  for (const Node& node : graph.nodes()) {
    text += inner;
    if (node.op == Op::kInput) {
      const Value& value = graph.value(node.outputs[0]);
      text += fmt::format("input {}: {}", PrintGraphName(value.name), PrintType(value));
    } else if (node.op == Op::kConstant) {
      text += PrintConstant(node, graph.value(node.outputs[0]));
    } else {
      text += PrintOperation(graph, node, inner);
    }
    text += "\n";
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const std::string& value = graph.value(graph.outputs()[i]).name;
    const std::string& name = graph.output_names()[i];
    text += inner + "output " + PrintGraphName(name);
    if (name != value) text += " = " + PrintGraphName(value);
    text += "\n";
  }
  text += std::string(indent) + "}";
}

std::filesystem::path WeightsPath(std::filesystem::path path) {
  return path.replace_extension(".safetensors");
}

void CollectWeights(const Graph& graph, std::map<std::string, Array, std::less<>>& weights) {
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::kConstant && !node.weight_name.empty())
      weights.emplace(node.weight_name, node.constant);
    for (const auto& body : node.bodies) CollectWeights(*body, weights);
  }
}

}  // namespace

std::string Print(const Graph& graph) {
  std::string text;
  PrintGraph(graph, "", text);
  return text + "\n";
}

Result<Graph> FillWeights(const Graph& graph, const WeightSource& weights) {
  const auto fill = [&](const Node& node, const std::vector<ValueId>&,
                        GraphBuilder& builder) -> Result<std::vector<ValueId>> {
    if (node.op != Op::kConstant || node.weight_name.empty()) return std::vector<ValueId>();
    const std::string init = node.Has("init") ? node.String("init") : "";
    auto array =
        weights.Load({node.weight_name, node.constant.type(), node.constant.shape(), init});
    if (!array) return Fail(array.error().code, "node {}: {}", node.name, array.error().message);
    const ValueId weight = builder.AddWeight(node.name, *std::move(array), node.weight_name, init);
    builder.RenameValue(weight, graph.value(node.outputs[0]).name);
    return std::vector{weight};
  };
  return Rebuild(graph, fill);
}

Result<GraphFile> GraphFile::Open(const std::filesystem::path& path,
                                  std::optional<uint64_t> random_weights_seed) {
  GraphFile file;
  file.path_ = path;
  file.files_ = {StampOf(path)};
  TUNEC_ASSIGN(std::string text, ReadFile(path));
  file.text_ = std::make_shared<const std::string>(std::move(text));
  if (random_weights_seed) {
    file.weights_ = std::make_shared<const RandomWeights>(*random_weights_seed);
    return file;
  }
  const std::filesystem::path weights = WeightsPath(path);
  std::error_code ignored;
  if (!std::filesystem::exists(weights, ignored)) {
    file.weights_ = std::make_shared<const NoWeights>();
    return file;
  }
  file.files_.push_back(StampOf(weights));
  TUNEC_ASSIGN(SafetensorsFile tensors, SafetensorsFile::Open(weights));
  file.weights_ = std::make_shared<const SafetensorsWeights>(std::move(tensors));
  return file;
}

Result<Graph> GraphFile::At(const GraphSizes& sizes) const {
  return ParseGraph(*text_, path_.string(), *weights_, sizes);
}

Result<Graph> ReadGraphFile(const std::filesystem::path& path,
                            std::optional<uint64_t> random_weights_seed, const GraphSizes& sizes) {
  TUNEC_ASSIGN(const GraphFile file, GraphFile::Open(path, random_weights_seed));
  return file.At(sizes);
}

Status WriteGraphFile(const Graph& graph, const std::filesystem::path& path) {
  std::map<std::string, Array, std::less<>> weights;
  CollectWeights(graph, weights);
  if (!weights.empty()) TUNEC_RETURN_IF_ERROR(WriteSafetensors(WeightsPath(path), weights));
  return WriteFileAtomically(path, Print(graph));
}

}  // namespace tunec
