#include "graph/onnx/importer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/onnx/handlers/handlers.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

constexpr int64_t kLeastOpset = 1;
constexpr int64_t kMostOpset = 28;
/// Limits on the depth of calls and branches, and on the number of nodes. Functions may call
/// functions, and each level of calls may multiply the nodes.
constexpr int kMostCallDepth = 64;
constexpr int64_t kMostNodes = 1'000'000;

Result<int64_t> OpsetOf(const Scope& scope, const std::string& domain) {
  const auto it = scope.opsets.find(domain);
  // Exporters may omit the opset of any domain except the default domain. The opset is then 1.
  if (it == scope.opsets.end() && !domain.empty()) return 1;
  if (it == scope.opsets.end()) {
    return Fail(ErrorCode::kParse, "the opset of the default domain is not given");
  }
  if (domain.empty() && (it->second < kLeastOpset || it->second > kMostOpset)) {
    return Fail(ErrorCode::kUnsupported, "opset is {}, expected {} to {}", it->second, kLeastOpset,
                kMostOpset);
  }
  return it->second;
}

Operand Poison() {
  auto operand = std::make_shared<OperandState>();
  operand->poisoned = true;
  return operand;
}

bool IsPoisoned(const Operand& operand) { return operand != nullptr && operand->poisoned; }

bool HasReferences(const OnnxNode& node) {
  return std::ranges::any_of(node.attributes, [](const auto& entry) {
    return std::holds_alternative<AttributeReference>(entry.second);
  });
}

/// Returns the node with its attribute references replaced by the call's values. A reference
/// without a value is omitted.
OnnxNode WithArguments(OnnxNode node, const OnnxAttributes* arguments) {
  OnnxAttributes attributes;
  for (auto& [name, value] : node.attributes) {
    const auto* reference = std::get_if<AttributeReference>(&value);
    if (reference == nullptr) {
      attributes.emplace(name, std::move(value));
    } else if (arguments != nullptr && arguments->contains(reference->name)) {
      attributes.emplace(name, arguments->find(reference->name)->second);
    }
  }
  node.attributes = std::move(attributes);
  return node;
}

/// Returns the numbers in the input's type. Fractions may be rounded. Fails for an integer that the
/// type cannot represent, for a fraction as an integer, and for a number beyond the type's range.
Result<Array> Converted(const Array& numbers, const OnnxValue& input) {
  const DataType type = *input.type;
  Array array(type, numbers.shape());
  for (int64_t i = 0; i < numbers.size(); ++i) {
    bool fits = false;
    if (IsFloat(numbers.type())) {
      if (IsFloat(type)) array.SetDouble(i, numbers.GetDouble(i));
      fits = IsFloat(type) && std::isfinite(array.GetDouble(i));
    } else if (IsFloat(type)) {
      constexpr int64_t kMostExact = int64_t{1} << 53;
      const int64_t number = numbers.GetInt(i);
      array.SetDouble(i, static_cast<double>(number));
      fits = std::abs(number) <= kMostExact && array.GetDouble(i) == static_cast<double>(number);
    } else {
      array.SetInt(i, numbers.GetInt(i));
      fits = array.GetInt(i) == numbers.GetInt(i);
    }
    if (!fits)
      return Fail(ErrorCode::kInvalidArgument, "the constant for input '{}' has {}, expected {}",
                  input.name, numbers.GetDouble(i), Name(type));
  }
  return array;
}

/// The part of an output's declaration that is binding. If an input has dynamic sizes, the file may
/// declare the output sizes of one example.
enum class Declares { kSizes, kRank };

Declares DeclarationsOf(const OnnxGraph& graph) {
  const bool is_fixed = std::ranges::all_of(graph.inputs, [](const OnnxValue& input) {
    return input.dims && std::ranges::all_of(*input.dims, &Dim::IsConstant);
  });
  return is_fixed ? Declares::kSizes : Declares::kRank;
}

/// Checks an output's rank, and with kSizes its sizes, against the file's declaration. Accepts
/// names, sizes of 0 and shapes without dimensions, because exporters write them for unknown sizes.
Status RequireDeclaredShape(const OnnxValue& output, const Operand& computed, Declares declares) {
  if (!output.dims || output.dims->empty()) return {};
  const std::vector<Dim>& declared = *output.dims;
  const std::vector<Dim>& shape = computed->shape;
  bool agrees = declared.size() == shape.size();
  for (size_t d = 0; agrees && declares == Declares::kSizes && d < declared.size(); ++d) {
    const bool is_known = declared[d].IsConstant() && declared[d].Value() > 0;
    agrees = !is_known || declared[d] == shape[d];
  }
  if (agrees) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "graph output '{}' is {}, expected {} as the model declares it", output.name,
              ShapeText(shape), ShapeText(declared));
}

/// A counter of the nodes of a model with inlined functions. It does not inline, because a chain of
/// a few dozen functions, each of which calls the next one twice, would exceed the memory. The body
/// of a recursive call counts 0; the limit of the call depth ends recursion.
class NodeCounter {
 public:
  explicit NodeCounter(const OnnxModel& model) : model_(model) {}

  int64_t Count(const std::vector<OnnxNode>& nodes) {
    int64_t count = 0;
    for (const OnnxNode& node : nodes) {
      count += 1 + CountCall(node);
      for (const auto& [name, attribute] : node.attributes) {
        const auto* branch = std::get_if<std::shared_ptr<const OnnxGraph>>(&attribute);
        if (branch != nullptr) count += Count((*branch)->nodes);
      }
      if (count > kMostNodes) return kMostNodes + 1;
    }
    return count;
  }

 private:
  int64_t CountCall(const OnnxNode& node) {
    const auto function = model_.functions.find({node.domain, node.op_type});
    if (function == model_.functions.end()) return 0;
    const auto [known, is_new] = of_function_.emplace(&function->second, 0);
    if (is_new) known->second = Count(function->second.nodes);
    return known->second;
  }

  const OnnxModel& model_;
  std::map<const OnnxFunction*, int64_t> of_function_;
};

}  // namespace

const Operand* Scope::Find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    const auto it = scope->values.find(name);
    if (it != scope->values.end()) return &it->second;
  }
  return nullptr;
}

Importer::Importer(OnnxModel model, ImportOptions options)
    : model_(std::move(model)),
      emitter_(model_.graph.name.empty() ? "model" : model_.graph.name),
      options_(std::move(options)) {
  if (options_.no_ops == NoOps::kRetained) emitter_.RetainNoOps();
}

Result<Graph> Importer::Run() {
  Scope scope;
  scope.opsets = model_.opsets;
  if (scope.opsets.contains("")) TUNEC_RETURN_IF_ERROR(OpsetOf(scope, ""));
  if (NodeCounter(model_).Count(model_.graph.nodes) > kMostNodes) {
    return Fail(ErrorCode::kInvalidArgument,
                "the model has more than {} nodes with its functions written out", kMostNodes);
  }
  TUNEC_RETURN_IF_ERROR(AddInputs(model_.graph, scope));
  TUNEC_RETURN_IF_ERROR(AddInitializers(model_.graph, scope));
  TUNEC_RETURN_IF_ERROR(ImportNodes(model_.graph.nodes, scope, 0));
  TUNEC_RETURN_IF_ERROR(unsupported_.Report());
  if (model_.graph.outputs.empty()) return Fail(ErrorCode::kParse, "the graph has no outputs");
  const Declares declares = DeclarationsOf(model_.graph);
  std::set<std::string_view> names;
  for (const OnnxValue& output : model_.graph.outputs) {
    const Operand* operand = scope.Find(output.name);
    if (operand == nullptr) {
      return Fail(ErrorCode::kParse, "graph output '{}' is not made by any node", output.name);
    }
    if (!names.insert(output.name).second) {
      return Fail(ErrorCode::kParse, "two graph outputs have the name '{}'", output.name);
    }
    TUNEC_RETURN_IF_ERROR(RequireDeclaredShape(output, *operand, declares));
    TUNEC_RETURN_IF_ERROR(emitter_.AddOutput(*operand, output.name));
  }
  return std::move(emitter_).Build();
}

Status Importer::AddInputs(const OnnxGraph& graph, Scope& scope) {
  TUNEC_ASSIGN(const auto shapes, ResolveInputShapes(graph, options_));
  std::set<std::string_view> names;
  for (const OnnxValue& input : graph.inputs) {
    if (input.name.empty()) return Fail(ErrorCode::kParse, "a graph input has no name");
    if (!names.insert(input.name).second) {
      return Fail(ErrorCode::kParse, "two graph inputs have the name '{}'", input.name);
    }
    const auto shape = shapes.find(input.name);
    if (shape == shapes.end()) continue;  // an initializer
    if (!input.type) {
      return Fail(ErrorCode::kParse, "graph input '{}' has no element type", input.name);
    }
    const OperandShape dims(shape->second);
    if (dims.IsFixed() && !IsShape(dims.Fixed())) {
      return Fail(ErrorCode::kInvalidArgument, "graph input '{}' has too many elements",
                  input.name);
    }
    TUNEC_ASSIGN(scope.values[input.name], AddInput(input, shape->second));
  }
  return {};
}

Result<Operand> Importer::AddInput(const OnnxValue& input, const std::vector<Dim>& shape) {
  const auto constant = options_.constants.find(input.name);
  if (constant == options_.constants.end()) {
    return emitter_.AddInput(input.name, *input.type, shape);
  }
  if (options_.untyped_constants.contains(input.name)) {
    TUNEC_ASSIGN(Array typed, Converted(constant->second, input));
    return emitter_.AddConstant(std::move(typed), input.name);
  }
  if (constant->second.type() != *input.type) {
    return Fail(ErrorCode::kInvalidArgument, "the constant for input '{}' is {}, expected {}",
                input.name, Name(constant->second.type()), Name(*input.type));
  }
  return emitter_.AddConstant(constant->second, input.name);
}

Status Importer::AddInitializers(OnnxGraph& graph, Scope& scope) {
  for (auto& [name, array] : graph.initializers) {
    if (scope.values.contains(name)) {
      return Fail(ErrorCode::kParse, "value '{}' is defined twice", name);
    }
    scope.values[name] = emitter_.AddConstant(array, name);
  }
  return {};
}

Status Importer::ImportNodes(const std::vector<OnnxNode>& nodes, Scope& scope, int depth) {
  if (depth > kMostCallDepth) {
    return Fail(ErrorCode::kInvalidArgument,
                "functions and subgraphs are nested deeper than {} levels (a function that calls "
                "itself?)",
                kMostCallDepth);
  }
  for (const OnnxNode& node : nodes) {
    if (++imported_nodes_ > kMostNodes) {
      return Fail(ErrorCode::kInvalidArgument, "the model has more than {} nodes", kMostNodes);
    }
    TUNEC_RETURN_IF_ERROR(HasReferences(node)
                              ? ImportNode(WithArguments(node, scope.arguments), scope, depth)
                              : ImportNode(node, scope, depth));
  }
  return {};
}

Result<std::vector<Operand>> Importer::OperandsOf(const std::vector<std::string>& names,
                                                  const Scope& scope) const {
  std::vector<Operand> operands;
  for (const std::string& name : names) {
    const Operand* operand = name.empty() ? nullptr : scope.Find(name);
    if (!name.empty() && operand == nullptr) {
      return Fail(ErrorCode::kParse,
                  "input '{}' is not made by an earlier node, initializer or graph input (a cycle, "
                  "or nodes out of order)",
                  name);
    }
    operands.push_back(operand == nullptr ? nullptr : *operand);
  }
  while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
  return operands;
}

Status Importer::ImportNode(const OnnxNode& node, Scope& scope, int depth) {
  const auto in_node = [&](const Error& error) {
    return std::unexpected(
        Error{error.code, fmt::format("node {}: {}", Describe(node), error.message), error.where});
  };
  const auto inputs = OperandsOf(node.inputs, scope);
  if (!inputs) return in_node(inputs.error());
  const bool is_known = node.op_type == "If" || FindHandler(node.domain, node.op_type) != nullptr ||
                        model_.functions.contains({node.domain, node.op_type});
  std::vector<Operand> outputs;
  if (!is_known) {
    unsupported_.Note(node, "");
    outputs.assign(node.outputs.size(), Poison());
  } else if (std::ranges::any_of(*inputs, IsPoisoned)) {
    outputs.assign(node.outputs.size(), Poison());
  } else {
    auto translated = Translate(node, scope, *inputs, depth);
    if (translated) {
      outputs = *std::move(translated);
    } else if (translated.error().code == ErrorCode::kUnsupported) {
      unsupported_.Note(node, translated.error().message);
      outputs.assign(node.outputs.size(), Poison());
    } else {
      return in_node(translated.error());
    }
  }
  const Status defined = Define(node, std::move(outputs), scope);
  return defined ? defined : in_node(defined.error());
}

Result<std::vector<Operand>> Importer::Translate(const OnnxNode& node, const Scope& scope,
                                                 const std::vector<Operand>& inputs, int depth) {
  // A model-local function takes precedence over an operator of the same name.
  const auto function = model_.functions.find({node.domain, node.op_type});
  if (function != model_.functions.end()) {
    return InlineFunction(node, function->second, inputs, depth);
  }
  if (node.op_type == "If" && node.domain.empty()) return TakeBranch(node, scope, inputs, depth);
  const Handler* handler = FindHandler(node.domain, node.op_type);
  if (handler == nullptr) return Fail(ErrorCode::kUnsupported, "is not supported");
  TUNEC_ASSIGN(const int64_t version, OpsetOf(scope, node.domain));
  if (version < handler->since) {
    return Fail(ErrorCode::kUnsupported, "exists since opset {}, the model has {}", handler->since,
                version);
  }
  const std::string first = node.outputs.empty() ? "" : node.outputs.front();
  emitter_.SetNodeName(!node.name.empty() ? node.name : first);
  return handler->translate(NodeContext(node, inputs, version, emitter_), handler->op);
}

Result<std::vector<Operand>> Importer::InlineFunction(const OnnxNode& node,
                                                      const OnnxFunction& function,
                                                      const std::vector<Operand>& inputs,
                                                      int depth) {
  if (inputs.size() > function.inputs.size()) {
    return Fail(ErrorCode::kParse, "has {} inputs, the function takes {}", inputs.size(),
                function.inputs.size());
  }
  OnnxAttributes arguments = function.defaults;
  for (const auto& [name, value] : node.attributes) arguments.insert_or_assign(name, value);
  Scope scope;
  scope.opsets = function.opsets;
  scope.arguments = &arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) scope.values[function.inputs[i]] = inputs[i];
  }
  // Inputs that the call omits are null, which means an omitted input inside the function.
  for (const std::string& name : function.inputs) scope.values.try_emplace(name, nullptr);
  TUNEC_RETURN_IF_ERROR(ImportNodes(function.nodes, scope, depth + 1));
  return OperandsOf(function.outputs, scope);
}

Result<std::vector<Operand>> Importer::TakeBranch(const OnnxNode& node, const Scope& scope,
                                                  const std::vector<Operand>& inputs, int depth) {
  if (inputs.size() == 1 && inputs[0]->sizes)
    return Fail(ErrorCode::kUnsupported, "its condition depends on named sizes");
  if (inputs.size() != 1 || !inputs[0]->constant || inputs[0]->constant->size() != 1) {
    return Fail(ErrorCode::kUnsupported, "its condition is computed at run time");
  }
  const bool taken = inputs[0]->constant->GetInt(0) != 0;
  const auto it = node.attributes.find(taken ? "then_branch" : "else_branch");
  const auto* branch = it == node.attributes.end()
                           ? nullptr
                           : std::get_if<std::shared_ptr<const OnnxGraph>>(&it->second);
  if (branch == nullptr) return Fail(ErrorCode::kParse, "the branch to take is missing");
  Scope inner;
  inner.outer = &scope;
  inner.opsets = scope.opsets;
  inner.arguments = scope.arguments;
  for (const auto& [name, array] : (*branch)->initializers) {
    inner.values[name] = emitter_.AddConstant(array, name);
  }
  TUNEC_RETURN_IF_ERROR(ImportNodes((*branch)->nodes, inner, depth + 1));
  std::vector<std::string> names;
  for (const OnnxValue& output : (*branch)->outputs) names.push_back(output.name);
  return OperandsOf(names, inner);
}

Status Importer::Define(const OnnxNode& node, std::vector<Operand> outputs, Scope& scope) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string& name = node.outputs[i];
    if (name.empty()) continue;
    if (i >= outputs.size() || outputs[i] == nullptr) {
      unsupported_.Note(node, fmt::format("output {} ('{}') is not computed", i, name));
      outputs.resize(std::max(outputs.size(), i + 1));
      outputs[i] = Poison();
    }
    if (scope.values.contains(name)) {
      return Fail(ErrorCode::kParse, "value '{}' is defined twice", name);
    }
    emitter_.NameValue(outputs[i], name);
    scope.values[name] = outputs[i];
  }
  return {};
}

}  // namespace tunec::onnx_import
