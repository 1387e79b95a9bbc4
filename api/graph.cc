// Definitions of the C functions that build graphs.
#include "api/include/tunec/graph.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/built_graph.h"
#include "api/run/guarded.h"
#include "graph/ops/infer.h"
#include "graph/ops/unknown_op.h"
#include "graph/passes/eliminate_dead_nodes.h"
#include "graph/specialize.h"
#include "graph/text/graph_text.h"
#include "graph/text/graph_text_names.h"
#include "ir/size/prove_sizes.h"
#include "ir/size/size_text.h"
#include "support/lexer.h"

namespace tunec {
namespace {

/// A pointer that a caller gives, and its name in messages.
struct Given {
  const void* pointer;
  std::string_view name;
};

Status RequireAll(std::initializer_list<Given> pointers) {
  for (const Given& given : pointers)
    if (given.pointer == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "{} is null", given.name);
  return {};
}

const char* OrEmpty(const char* text) { return text == nullptr ? "" : text; }

bool HasValue(const Graph& graph, int64_t value) {
  return value >= 0 && value < std::ssize(graph.values());
}

Result<ValueId> ValueOf(const Graph& graph, int64_t value) {
  if (HasValue(graph, value)) return ValueId{static_cast<int32_t>(value)};
  return Fail(ErrorCode::kInvalidArgument,
              "value {} is not in the graph, expected a number below {}", value,
              graph.values().size());
}

Result<ValueType> ParseFixedType(std::string_view text, std::string_view name) {
  TUNEC_ASSIGN(ValueType type, ParseValueType(text));
  if (!type.IsFixed())
    return Fail(ErrorCode::kInvalidArgument, "'{}' is {}, expected fixed sizes", name,
                ShapeText(type.dims));
  if (!IsPossible(type))
    return Fail(ErrorCode::kInvalidArgument, "'{}' is {}, expected at most 2^48 elements", name,
                ShapeText(type.dims));
  return type;
}

/// Renames the value that has the name, unless the value is an input.
void FreeName(const std::string& name, GraphBuilder& builder) {
  const std::vector<Value>& values = builder.graph().values();
  const auto found = std::ranges::find(values, name, &Value::name);
  if (found == values.end() || builder.graph().node(found->producer).op == Op::kInput) return;
  builder.RenameValue({static_cast<int32_t>(found - values.begin())}, name + "_1");
}

Result<Op> ParseOperator(std::string_view name) {
  const std::optional<Op> op = ParseOp(name);
  if (!op || IsLeaf(*op)) return Fail(ErrorCode::kInvalidArgument, "{}", NoOperator(name));
  if (KindOf(*op) == OpKind::kControl || *op == Op::kFree)
    return Fail(ErrorCode::kUnsupported,
                "{} has nested graphs or no result, which only the text of a graph can have", name);
  return *op;
}

Result<ValueId> AddNode(GraphBuilder& builder, const char* op_name,
                        std::span<const int64_t> operands, const char* attributes,
                        const char* name) {
  TUNEC_ASSIGN(const Op op, ParseOperator(op_name));
  std::vector<ValueId> inputs;
  for (const int64_t operand : operands) {
    inputs.emplace_back();
    if (operand == TUNEC_OMITTED) continue;
    TUNEC_ASSIGN(inputs.back(), ValueOf(builder.graph(), operand));
  }
  TUNEC_ASSIGN(Attributes parsed, ParseAttributes(OrEmpty(attributes)));
  return builder.Add(op, std::move(inputs), std::move(parsed), OrEmpty(name));
}

Result<SizeExpr> ParseWholeSize(const char* text) {
  TUNEC_ASSIGN(Lexer lexer, Lexer::Create(text, "<size>"));
  TUNEC_ASSIGN(ParsedSize parsed, ParseSizeExpr(lexer));
  if (!lexer.IsAtEnd()) return lexer.Expected("the end of the text");
  return std::move(parsed.size);
}

}  // namespace
}  // namespace tunec

tunec::Result<tunec::Graph> tunec_graph::Live() const {
  if (builder.graph().outputs().empty())
    return tunec::Fail(tunec::ErrorCode::kInvalidArgument,
                       "graph {} has no output, expected at least one", builder.graph().name());
  return tunec::EliminateDeadNodes(builder.graph(), {});
}

extern "C" {

using tunec::ErrorCode;
using tunec::Fail;
using tunec::Graph;
using tunec::Guarded;
using tunec::Status;
using tunec::ValueId;
using tunec::ValueType;

int tunec_graph_create(const char* name, tunec_graph** out) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{out, "out"}}));
    *out = nullptr;
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{name, "name"}}));
    *out = std::make_unique<tunec_graph>(name).release();
    return {};
  });
}

void tunec_graph_release(tunec_graph* graph) { delete graph; }

int tunec_graph_add_input(tunec_graph* graph, const char* name, const char* type, int64_t* value) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(
        tunec::RequireAll({{graph, "graph"}, {name, "name"}, {type, "type"}, {value, "value"}}));
    TUNEC_ASSIGN(ValueType parsed, tunec::ParseValueType(type));
    tunec::FreeName(name, graph->builder);
    TUNEC_ASSIGN(const ValueId input, graph->builder.AddInput(name, std::move(parsed)));
    *value = input.index;
    return {};
  });
}

int tunec_graph_add_weight(tunec_graph* graph, const char* name, const char* type, const char* key,
                           int64_t* value) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(
        tunec::RequireAll({{graph, "graph"}, {type, "type"}, {key, "key"}, {value, "value"}}));
    const std::string_view given = tunec::OrEmpty(name);
    if (*key == '\0')
      return Fail(ErrorCode::kInvalidArgument, "the weight '{}' has an empty key", given);
    const std::string preferred(given.empty() ? key : given);
    TUNEC_ASSIGN(const ValueType parsed, tunec::ParseFixedType(type, preferred));
    // The elements come with the compilation. No other function reads them.
    const std::span<const std::byte> unset(static_cast<const std::byte*>(nullptr),
                                           static_cast<size_t>(parsed.Bytes()));
    tunec::Array array(parsed.type, parsed.Shape(), nullptr, unset);
    *value = graph->builder.AddConstant(preferred, std::move(array), key).index;
    return {};
  });
}

int tunec_graph_add_constant(tunec_graph* graph, const char* name, const char* type,
                             const char* elements, int64_t* value) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll(
        {{graph, "graph"}, {type, "type"}, {elements, "elements"}, {value, "value"}}));
    TUNEC_ASSIGN(const ValueType parsed, tunec::ParseFixedType(type, tunec::OrEmpty(name)));
    TUNEC_ASSIGN(tunec::Array array, tunec::ParseElements(elements, parsed));
    *value = graph->builder.AddConstant(tunec::OrEmpty(name), std::move(array)).index;
    return {};
  });
}

int tunec_graph_add_node(tunec_graph* graph, const char* op, size_t num_operands,
                         const int64_t* operands, const char* attributes, const char* name,
                         int64_t* value) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{graph, "graph"}, {op, "op"}, {value, "value"}}));
    if (num_operands > 0) TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{operands, "operands"}}));
    TUNEC_ASSIGN(const ValueId added,
                 tunec::AddNode(graph->builder, op, {operands, num_operands}, attributes, name));
    *value = added.index;
    return {};
  });
}

int tunec_graph_add_output(tunec_graph* graph, const char* name, int64_t value) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{graph, "graph"}, {name, "name"}}));
    if (*name == '\0') return Fail(ErrorCode::kInvalidArgument, "an output's name is empty");
    const Graph& built = graph->builder.graph();
    if (std::ranges::find(built.output_names(), name) != built.output_names().end())
      return Fail(ErrorCode::kInvalidArgument, "two outputs are called {}", name);
    TUNEC_ASSIGN(const ValueId output, tunec::ValueOf(built, value));
    graph->builder.AddOutput(output, name);
    return {};
  });
}

const char* tunec_graph_element_type(const tunec_graph* graph, int64_t value) {
  if (graph == nullptr || !tunec::HasValue(graph->builder.graph(), value)) return nullptr;
  // The names are literals, so they end with a zero byte.
  return Name(graph->builder.TypeOf({static_cast<int32_t>(value)}).type).data();
}

int tunec_graph_rank(const tunec_graph* graph, int64_t value) {
  if (graph == nullptr || !tunec::HasValue(graph->builder.graph(), value)) return -1;
  return static_cast<int>(graph->builder.TypeOf({static_cast<int32_t>(value)}).dims.size());
}

const char* tunec_graph_extent(tunec_graph* graph, int64_t value, size_t axis) {
  if (graph == nullptr || !tunec::HasValue(graph->builder.graph(), value)) return nullptr;
  const auto& dims = graph->builder.TypeOf({static_cast<int32_t>(value)}).dims;
  if (axis >= dims.size()) return nullptr;
  const int status = Guarded([&]() -> Status {
    graph->extent = Print(dims[axis], tunec::PrintGraphName);
    return {};
  });
  return status == TUNEC_OK ? graph->extent.c_str() : nullptr;
}

int tunec_graph_print(tunec_graph* graph, const char** text) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{text, "text"}}));
    *text = nullptr;
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{graph, "graph"}}));
    TUNEC_ASSIGN(const Graph live, graph->Live());
    graph->text = Print(live);
    *text = graph->text.c_str();
    return {};
  });
}

int tunec_graph_conditions(tunec_graph* graph, const char** text) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{text, "text"}}));
    *text = nullptr;
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{graph, "graph"}}));
    TUNEC_ASSIGN(const Graph live, tunec::EliminateDeadNodes(graph->builder.graph(), {}));
    graph->conditions.clear();
    for (const tunec::SizeCondition& condition : ConditionsOf(live))
      graph->conditions += Print(condition) + "\n";
    *text = graph->conditions.c_str();
    return {};
  });
}

int tunec_sizes_are_equal(const char* one, const char* other, int* equal) {
  return Guarded([&]() -> Status {
    TUNEC_RETURN_IF_ERROR(tunec::RequireAll({{one, "one"}, {other, "other"}, {equal, "equal"}}));
    TUNEC_ASSIGN(const tunec::SizeExpr left, tunec::ParseWholeSize(one));
    TUNEC_ASSIGN(const tunec::SizeExpr right, tunec::ParseWholeSize(other));
    *equal = ProveEqual(left, right, {}) ? 1 : 0;
    return {};
  });
}

}  // extern "C"
