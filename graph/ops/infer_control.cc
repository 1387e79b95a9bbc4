// Type inference for control operators, alloc and free. A nested graph reads no values of the outer
// graph directly. Its inputs correspond to operands, in order.
//   if(condition, operands...) with graphs then, else: operands -> results
//   while(state...) with graphs condition: state -> bool, body: state -> state
//   scan(state..., sequences...) {states=N} with graph body: (state..., slices...) ->
//     (state..., slices...); sequences are sliced and results stacked along axis 0
#include "graph/graph.h"
#include "graph/ops/infer.h"

namespace tunec {
namespace {

std::string TypeText(const ValueType& type) {
  return fmt::format("{} {}", Name(type.type), ShapeText(type.dims));
}

Status RequireBodies(const InferenceInput& input, size_t expected) {
  if (input.bodies.size() == expected) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} has {} nested graphs, expected {}", Name(input.op),
              input.bodies.size(), expected);
}

Status RequireTypes(Op op, const Graph& body, std::string_view what,
                    const std::vector<ValueType>& have, const std::vector<ValueType>& expected) {
  if (have.size() != expected.size())
    return Fail(ErrorCode::kInvalidArgument, "{} graph {} has {} {}, expected {}", Name(op),
                body.name(), have.size(), what, expected.size());
  for (size_t i = 0; i < have.size(); ++i)
    if (have[i] != expected[i])
      return Fail(ErrorCode::kInvalidArgument, "{} graph {} {} {} is {}, expected {}", Name(op),
                  body.name(), what, i, TypeText(have[i]), TypeText(expected[i]));
  return {};
}

std::vector<ValueType> TypesOf(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<ValueType> types;
  for (const ValueId value : values) types.push_back(graph.value(value).type);
  return types;
}

std::vector<ValueType> OperandTypes(const InferenceInput& input, size_t from) {
  std::vector<ValueType> types;
  for (size_t i = from; i < input.operands.size(); ++i) types.push_back(input.operand(i));
  return types;
}

Status RequireAllOperands(const InferenceInput& input) {
  for (size_t i = 0; i < input.operands.size(); ++i)
    if (!input.HasOperand(i))
      return Fail(ErrorCode::kInvalidArgument, "{} operand {} is omitted, but required",
                  Name(input.op), i);
  return {};
}

bool IsFlag(const ValueType& type) { return type.type == DataType::kBool && type.dims.empty(); }

}  // namespace

Result<std::vector<ValueType>> InferIf(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireAllOperands(input));
  TUNEC_RETURN_IF_ERROR(RequireBodies(input, 2));
  if (!IsFlag(input.operand(0)))
    return Fail(ErrorCode::kInvalidArgument, "if condition is {}, expected bool scalar",
                TypeText(input.operand(0)));
  const Graph& yes = *input.bodies[0];
  std::vector<ValueType> results = TypesOf(yes, yes.outputs());
  for (const auto& body : input.bodies) {
    TUNEC_RETURN_IF_ERROR(RequireTypes(input.op, *body, "input", TypesOf(*body, body->inputs()),
                                       OperandTypes(input, 1)));
    TUNEC_RETURN_IF_ERROR(
        RequireTypes(input.op, *body, "output", TypesOf(*body, body->outputs()), results));
  }
  return results;
}

Result<std::vector<ValueType>> InferWhile(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireAllOperands(input));
  TUNEC_RETURN_IF_ERROR(RequireBodies(input, 2));
  std::vector<ValueType> state = OperandTypes(input, 0);
  const Graph& condition = *input.bodies[0];
  const Graph& body = *input.bodies[1];
  for (const Graph* graph : {&condition, &body})
    TUNEC_RETURN_IF_ERROR(
        RequireTypes(input.op, *graph, "input", TypesOf(*graph, graph->inputs()), state));
  TUNEC_RETURN_IF_ERROR(RequireTypes(input.op, condition, "output",
                                     TypesOf(condition, condition.outputs()),
                                     {{DataType::kBool, {}}}));
  TUNEC_RETURN_IF_ERROR(
      RequireTypes(input.op, body, "output", TypesOf(body, body.outputs()), state));
  return state;
}

Result<std::vector<ValueType>> InferScan(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireAllOperands(input));
  TUNEC_RETURN_IF_ERROR(RequireBodies(input, 1));
  const Graph& body = *input.bodies[0];
  const int64_t states = input.Int("states");
  const auto operands = static_cast<int64_t>(input.operands.size());
  if (states < 0 || states >= operands || states > static_cast<int64_t>(body.outputs().size()))
    return Fail(ErrorCode::kInvalidArgument,
                "scan states is {}, expected 0 to {}, fewer than operands", states, operands - 1);
  std::vector<ValueType> expected = OperandTypes(input, 0);
  const std::vector<Dim>& sequence = expected[states].dims;
  const Dim length = sequence.empty() ? Dim(-1) : sequence[0];
  for (int64_t i = states; i < operands; ++i) {
    if (expected[i].dims.empty() || expected[i].dims[0] != length)
      return Fail(ErrorCode::kInvalidArgument,
                  "scan operand {} is {}, expected a sequence of length {}", i,
                  TypeText(expected[i]), sequence.empty() ? "any" : DimText(length));
    expected[i].dims.erase(expected[i].dims.begin());
  }
  TUNEC_RETURN_IF_ERROR(
      RequireTypes(input.op, body, "input", TypesOf(body, body.inputs()), expected));
  std::vector<ValueType> results = TypesOf(body, body.outputs());
  const std::vector<ValueType> state_types(results.begin(), results.begin() + states);
  expected.resize(states);
  TUNEC_RETURN_IF_ERROR(RequireTypes(input.op, body, "output", state_types, expected));
  for (size_t i = states; i < results.size(); ++i)
    results[i].dims.insert(results[i].dims.begin(), length);
  return results;
}

Result<std::vector<ValueType>> InferAlloc(const InferenceInput& input) {
  TUNEC_ASSIGN(const DataType type, TypeAttribute(input, "type"));
  const std::vector<int64_t>& shape = input.Ints("shape");
  return std::vector<ValueType>{{type, std::vector<Dim>(shape.begin(), shape.end())}};
}

Result<std::vector<ValueType>> InferFree(const InferenceInput&) { return std::vector<ValueType>{}; }

}  // namespace tunec
