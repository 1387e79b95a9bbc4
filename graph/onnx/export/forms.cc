#include "graph/onnx/export/forms.h"

#include <array>
#include <type_traits>
#include <vector>

#include "graph/onnx/export/write_model.h"
#include "graph/onnx/node_context.h"

namespace tunec::onnx_export {

Result<std::vector<int64_t>> FormContext::InputShape(size_t i) const {
  const ValueType& type = InputType(i);
  if (!type.IsFixed())
    return Fail(ErrorCode::kUnsupported, "operand {} has a dimension that is not fixed", i);
  return type.Shape();
}

std::string FormContext::Emit(std::string_view op_type, std::vector<std::string> inputs,
                              OnnxAttributes attributes) {
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  std::string output = names_.Make(fmt::format("{}/{}", node_.name, op_type));
  nodes_.push_back({.op_type = std::string(op_type),
                    .domain = "",
                    .name = output,
                    .inputs = std::move(inputs),
                    .outputs = {output},
                    .attributes = std::move(attributes)});
  return output;
}

std::string FormContext::Constant(Array array) {
  std::string name = names_.Make(node_.name + "/constant");
  constants_.emplace_back(name, std::move(array));
  return name;
}

std::string FormContext::Scalar(double value, DataType type) {
  Array array(type, {});
  array.SetDouble(0, value);
  return Constant(std::move(array));
}

std::string FormContext::Ints(const std::vector<int64_t>& values) {
  return Constant(onnx_import::IntArray(values));
}

std::string FormContext::Cast(const std::string& x, DataType from, DataType to) {
  return from == to ? x : Emit("Cast", {x}, {{"to", OnnxTypeOf(to)}});
}

Result<std::string> WriteWithAttributes(FormContext& node) {
  OnnxAttributes attributes;
  for (const auto& [name, value] : node.node().attributes) {
    std::visit(
        [&]<class T>(const T& of_kind) {
          // Nodes with named sizes are not exported.
          if constexpr (std::is_constructible_v<onnx_import::OnnxAttribute, const T&>)
            attributes.emplace(name, of_kind);
        },
        value);
  }
  return node.Emit(node.form().onnx_name, node.inputs(), std::move(attributes));
}

Result<std::string> WriteWithoutAttributes(FormContext& node) {
  return node.Emit(node.form().onnx_name, node.inputs());
}

const ExportForm* FindForm(Op op) {
  static const std::vector<ExportForm> forms = [] {
    std::vector<ExportForm> all;
    for (const auto part : {ElementwiseForms(), ContractionForms(), AttentionForms(),
                            ReductionForms(), NormForms(), MovementForms()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  for (const ExportForm& form : forms)
    if (form.op == op) return &form;
  return nullptr;
}

}  // namespace tunec::onnx_export
