#include "graph/ops/infer.h"

namespace tunec {
namespace {

Result<std::vector<Dim>> BroadcastOperands(const InferenceInput& input) {
  auto dims = Broadcast(input, input.operand(0).dims, input.operand(1).dims);
  if (!dims) dims.error().message = fmt::format("{} {}", Name(input.op), dims.error().message);
  return dims;
}

}  // namespace

Result<std::vector<ValueType>> InferUnary(const InferenceInput& input) {
  return std::vector<ValueType>{input.operand(0)};
}

Result<std::vector<ValueType>> InferPredicate(const InferenceInput& input) {
  return std::vector<ValueType>{{DataType::kBool, input.operand(0).dims}};
}

Result<std::vector<ValueType>> InferCast(const InferenceInput& input) {
  TUNEC_ASSIGN(const DataType type, TypeAttribute(input, "to"));
  return std::vector<ValueType>{{type, input.operand(0).dims}};
}

Result<std::vector<ValueType>> InferGelu(const InferenceInput& input) {
  const std::string& approximate = input.String("approximate");
  if (approximate != "none" && approximate != "tanh")
    return Fail(ErrorCode::kInvalidArgument,
                "gelu attribute approximate is \"{}\", expected \"none\" or \"tanh\"", approximate);
  return InferUnary(input);
}

Result<std::vector<ValueType>> InferBinary(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireSameType(input, 1));
  TUNEC_ASSIGN(std::vector<Dim> dims, BroadcastOperands(input));
  return std::vector<ValueType>{{input.operand(0).type, std::move(dims)}};
}

Result<std::vector<ValueType>> InferComparison(const InferenceInput& input) {
  TUNEC_ASSIGN(std::vector<ValueType> result, InferBinary(input));
  result[0].type = DataType::kBool;
  return result;
}

Result<std::vector<ValueType>> InferPrelu(const InferenceInput& input) {
  TUNEC_ASSIGN(std::vector<ValueType> result, InferBinary(input));
  if (result[0].dims != input.operand(0).dims)
    return Fail(ErrorCode::kInvalidArgument,
                "prelu slope is {}, expected a shape that broadcasts to {}",
                ShapeText(input.operand(1).dims), ShapeText(input.operand(0).dims));
  return result;
}

Result<std::vector<ValueType>> InferWhere(const InferenceInput& input) {
  if (input.operand(0).type != DataType::kBool)
    return Fail(ErrorCode::kInvalidArgument, "where condition is {}, expected bool",
                Name(input.operand(0).type));
  const ValueType& yes = input.operand(1);
  const ValueType& no = input.operand(2);
  if (yes.type != no.type)
    return Fail(ErrorCode::kInvalidArgument,
                "where operand types differ: operand 1 is {}, operand 2 is {}", Name(yes.type),
                Name(no.type));
  auto dims = Broadcast(input, yes.dims, no.dims);
  if (dims) dims = Broadcast(input, input.operand(0).dims, *dims);
  if (!dims) return Fail(ErrorCode::kInvalidArgument, "where {}", dims.error().message);
  return std::vector<ValueType>{{yes.type, std::move(*dims)}};
}

}  // namespace tunec
