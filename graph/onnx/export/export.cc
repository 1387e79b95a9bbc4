#include "graph/onnx/export/export.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "graph/onnx/export/forms.h"
#include "graph/onnx/export/write_model.h"
#include "support/file.h"

namespace tunec {
namespace onnx_export {
namespace {

class Exporter {
 public:
  explicit Exporter(const Graph& graph) : graph_(graph) {}
  Result<ExportedModel> Run();

 private:
  Status NameInterface();
  Status AddNode(const Node& node);
  void Append(FormContext& written, const std::string& from, const std::string& to);
  void AddOutputs();
  onnx_import::OnnxValue Described(const std::string& name, ValueId value) const;
  const std::string& NameOf(ValueId value);

  const Graph& graph_;
  UniqueNames names_;
  std::map<ValueId, std::string> name_of_;
  std::set<std::string> output_names_;  // output names that are names of computed values
  ExportedModel model_;
};

/// Names inputs and outputs like the graph. A value may be several outputs, or an input or constant
/// and an output. Then AddOutputs copies the value to the output names that it does not have.
Status Exporter::NameInterface() {
  for (const ValueId input : graph_.inputs())
    name_of_[input] = names_.Make(graph_.value(input).name);
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId output = graph_.outputs()[i];
    const std::string& output_name = graph_.output_names()[i];
    if (const auto known = name_of_.find(output);
        known != name_of_.end() && known->second == output_name)
      continue;  // the output is the input itself
    if (names_.Make(output_name) != output_name)
      return Fail(ErrorCode::kUnsupported,
                  "output {} has the name of an input, which ONNX does not allow", output_name);
    if (KindOf(graph_.producer(output).op) == OpKind::kData || name_of_.contains(output)) continue;
    name_of_[output] = output_name;
    output_names_.insert(output_name);
  }
  return {};
}

const std::string& Exporter::NameOf(ValueId value) {
  std::string& name = name_of_[value];
  if (name.empty()) name = names_.Make(graph_.value(value).name);
  return name;
}

onnx_import::OnnxValue Exporter::Described(const std::string& name, ValueId value) const {
  const ValueType& type = graph_.value(value).type;
  return {name, type.type, type.dims};
}

/// Appends the form's nodes and initializers, with the value `from` renamed to `to`.
void Exporter::Append(FormContext& written, const std::string& from, const std::string& to) {
  for (OnnxNode& node : written.TakeNodes()) {
    std::ranges::replace(node.inputs, from, to);
    std::ranges::replace(node.outputs, from, to);
    model_.graph.nodes.push_back(std::move(node));
  }
  for (auto& initializer : written.TakeInitializers())
    model_.graph.initializers.push_back(std::move(initializer));
}

Status Exporter::AddNode(const Node& node) {
  if (node.op == Op::kInput) return {};
  if (node.op == Op::kConstant) {
    model_.graph.initializers.emplace_back(NameOf(node.outputs[0]), node.constant);
    return {};
  }
  for (const auto& [name, attribute] : node.attributes) {
    if (!SizesOf(attribute).empty())
      return Fail(ErrorCode::kUnsupported, "attribute {} contains named sizes", name);
  }
  const ExportForm* form = FindForm(node.op);
  if (form == nullptr) return Fail(ErrorCode::kUnsupported, "is not written as ONNX yet");
  if (form->write == nullptr) return {};
  std::vector<std::string> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(input.valid() ? NameOf(input) : "");
  const std::string& output_name = NameOf(node.outputs[0]);
  FormContext context(graph_, node, *form, inputs, names_);
  TUNEC_ASSIGN(std::string result, form->write(context));
  if (std::ranges::find(inputs, result) != inputs.end())
    result = context.Emit("Identity", {result});
  Append(context, result, output_name);
  if (!output_names_.contains(output_name))
    model_.values.push_back(Described(output_name, node.outputs[0]));
  return {};
}

void Exporter::AddOutputs() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId output = graph_.outputs()[i];
    const std::string& name = graph_.output_names()[i];
    if (NameOf(output) != name)
      model_.graph.nodes.push_back({.op_type = "Identity",
                                    .domain = "",
                                    .name = name,
                                    .inputs = {NameOf(output)},
                                    .outputs = {name},
                                    .attributes = {}});
    model_.graph.outputs.push_back(Described(name, output));
  }
}

Result<ExportedModel> Exporter::Run() {
  model_.graph.name = graph_.name();
  TUNEC_RETURN_IF_ERROR(NameInterface());
  for (const ValueId input : graph_.inputs())
    model_.graph.inputs.push_back(Described(NameOf(input), input));
  std::vector<std::string> problems;
  for (const Node& node : graph_.nodes()) {
    const Status status = AddNode(node);
    if (!status)
      problems.push_back(
          fmt::format("node {} ({}): {}", node.name, Name(node.op), status.error().message));
  }
  if (!problems.empty())
    return Fail(ErrorCode::kUnsupported, "no ONNX form for {}", fmt::join(problems, "; "));
  AddOutputs();
  return std::move(model_);
}

}  // namespace
}  // namespace onnx_export

Result<std::string> ExportOnnxBytes(const Graph& graph) {
  TUNEC_ASSIGN(const onnx_export::ExportedModel model, onnx_export::Exporter(graph).Run());
  return onnx_export::Serialize(model);
}

Status ExportOnnx(const Graph& graph, const std::string& path, const ExportOptions& options) {
  TUNEC_ASSIGN(const onnx_export::ExportedModel model, onnx_export::Exporter(graph).Run());
  std::string data_file;
  if (onnx_export::WeightBytes(model) > options.most_bytes_inside) {
    data_file = std::filesystem::path(path).filename().string() + ".data";
    std::vector<FilePart> parts;
    for (const onnx_export::WeightOffset& weight : onnx_export::LayOutWeights(model))
      parts.push_back({weight.offset, std::span(weight.array->data(), weight.array->bytes())});
    TUNEC_RETURN_IF_ERROR(WriteFileAtomically(path + ".data", parts));
  }
  TUNEC_ASSIGN(const std::string bytes, onnx_export::Serialize(model, data_file));
  return WriteFileAtomically(path, bytes);
}

}  // namespace tunec
