// Type and shape inference for transpose, reshape, expand, slice, concat, pad and tile.
#include <algorithm>
#include <numeric>

#include "graph/ops/infer.h"
#include "ir/array.h"
#include "ir/expr/index_expr.h"

namespace tunec {
namespace {

Status RequireLength(const InferenceInput& input, std::string_view name, size_t expected) {
  const size_t length = input.Ints(name).size();
  if (length == expected) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} attribute {} has {} entries, expected {} for {}",
              Name(input.op), name, length, expected, ShapeText(input.operand(0).dims));
}

std::vector<Dim> AsDims(const std::vector<int64_t>& shape) { return {shape.begin(), shape.end()}; }

std::vector<ValueType> SameType(const InferenceInput& input, std::vector<Dim> dims) {
  return {{input.operand(0).type, std::move(dims)}};
}

/// Returns the number of indices start, start+step, ... before `end`. Fails if an index is not in
/// 0..size-1, if the step is 0, or if an argument is too large.
Result<int64_t> SliceLength(int64_t start, int64_t end, int64_t step, int64_t size, size_t axis) {
  constexpr int64_t kHuge = int64_t{1} << 48;
  if (step == 0)
    return Fail(ErrorCode::kInvalidArgument, "slice step of axis {} is 0, expected another", axis);
  const auto is_huge = [](int64_t number) { return number < -kHuge || number > kHuge; };
  if (is_huge(start) || is_huge(end) || is_huge(step))
    return Fail(ErrorCode::kInvalidArgument,
                "slice of axis {} is {}:{}:{}, expected smaller numbers", axis, start, end, step);
  const int64_t length = std::max<int64_t>(
      0, step > 0 ? CeilDivide(end - start, step) : CeilDivide(start - end, -step));
  const int64_t last = start + (length - 1) * step;
  if (length > 0 && (std::min(start, last) < 0 || std::max(start, last) >= size))
    return Fail(ErrorCode::kInvalidArgument, "slice of axis {} reads {} to {}, expected 0 to {}",
                axis, start, last, size - 1);
  return length;
}

}  // namespace

Result<std::vector<ValueType>> InferTranspose(const InferenceInput& input) {
  const auto& dims = input.operand(0).dims;
  std::vector<int64_t> perm(dims.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (input.Has("perm")) perm = input.Ints("perm");
  std::vector<int64_t> sorted = perm;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < std::max(sorted.size(), dims.size()); ++i)
    if (sorted.size() != dims.size() || sorted[i] != static_cast<int64_t>(i))
      return Fail(ErrorCode::kInvalidArgument,
                  "transpose perm is [{}], expected a permutation of {} axes",
                  fmt::join(perm, ", "), dims.size());
  (*input.attributes)["perm"] = perm;
  std::vector<Dim> result;
  for (const int64_t axis : perm) result.push_back(dims[axis]);
  return SameType(input, std::move(result));
}

Result<std::vector<ValueType>> InferReshape(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireFixed(input, 0));
  const std::vector<int64_t>& shape = input.Ints("shape");
  const int64_t have = ElementCount(input.operand(0).Shape());
  const int64_t expected = ElementCount(shape);
  if (have != expected)
    return Fail(ErrorCode::kInvalidArgument,
                "reshape sizes differ: input is {} with {} elements, shape is [{}]",
                ShapeText(input.operand(0).dims), have, fmt::join(shape, ", "));
  return SameType(input, AsDims(shape));
}

Result<std::vector<ValueType>> InferExpand(const InferenceInput& input) {
  const std::vector<Dim> shape = AsDims(input.Ints("shape"));
  const auto& dims = input.operand(0).dims;
  const auto broadcast = Broadcast(dims, shape);
  if (!broadcast || *broadcast != shape)
    return Fail(ErrorCode::kInvalidArgument,
                "expand shape is {}, expected one that {} broadcasts to", ShapeText(shape),
                ShapeText(dims));
  return SameType(input, shape);
}

Result<std::vector<ValueType>> InferSlice(const InferenceInput& input) {
  const auto& dims = input.operand(0).dims;
  if (!input.Has("steps") || input.Ints("steps").empty())
    (*input.attributes)["steps"] = std::vector<int64_t>(dims.size(), 1);
  for (const char* name : {"starts", "ends", "steps"})
    TUNEC_RETURN_IF_ERROR(RequireLength(input, name, dims.size()));
  std::vector<Dim> result;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (!dims[a].IsFixed())
      return Fail(ErrorCode::kUnsupported, "slice axis {} is {}, expected a fixed size", a,
                  dims[a].parameter());
    TUNEC_ASSIGN(const int64_t length, SliceLength(input.Ints("starts")[a], input.Ints("ends")[a],
                                                   input.Ints("steps")[a], dims[a].size(), a));
    result.emplace_back(length);
  }
  return SameType(input, std::move(result));
}

Result<std::vector<ValueType>> InferConcat(const InferenceInput& input) {
  std::vector<Dim> dims = input.operand(0).dims;
  TUNEC_ASSIGN(const int64_t axis, CompleteAxis(input, dims.size()));
  int64_t total = 0;
  for (size_t i = 0; i < input.operands.size(); ++i) {
    TUNEC_RETURN_IF_ERROR(RequireSameType(input, i));
    std::vector<Dim> other = input.operand(i).dims;
    if (other.size() == dims.size() && !other[axis].IsFixed())
      return Fail(ErrorCode::kUnsupported,
                  "concat operand {} is {}, expected a fixed size of axis {}", i, ShapeText(other),
                  axis);
    if (other.size() == dims.size()) {
      total = std::min(total + other[axis].size(), int64_t{1} << 60);
      other[axis] = dims[axis];
    }
    if (other != dims)
      return Fail(ErrorCode::kInvalidArgument,
                  "concat shapes differ outside axis {}: operand 0 is {}, operand {} is {}", axis,
                  ShapeText(input.operand(0).dims), i, ShapeText(input.operand(i).dims));
  }
  dims[axis] = total;
  return SameType(input, std::move(dims));
}

Result<std::vector<ValueType>> InferPad(const InferenceInput& input) {
  const auto& dims = input.operand(0).dims;
  const std::string& mode = input.String("mode");
  TUNEC_RETURN_IF_ERROR(RequireLength(input, "pads", 2 * dims.size()));
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return Fail(ErrorCode::kInvalidArgument,
                "pad mode is \"{}\", expected constant, reflect, edge or wrap", mode);
  std::vector<Dim> result;
  for (size_t a = 0; a < dims.size(); ++a) {
    const int64_t begin = input.Ints("pads")[a], end = input.Ints("pads")[a + dims.size()];
    constexpr int64_t kHuge = int64_t{1} << 48;
    if (begin < -kHuge || begin > kHuge || end < -kHuge || end > kHuge)
      return Fail(ErrorCode::kInvalidArgument, "pad of axis {} is {} and {}, expected less", a,
                  begin, end);
    if (begin == 0 && end == 0) {
      result.push_back(dims[a]);
      continue;
    }
    if (!dims[a].IsFixed())
      return Fail(ErrorCode::kUnsupported, "pad axis {} is {}, expected a fixed size", a,
                  dims[a].parameter());
    const int64_t size = dims[a].size() + begin + end;
    if (size < 0 || (mode != "constant" && dims[a].size() == 0 && size > 0))
      return Fail(ErrorCode::kInvalidArgument, "pad of axis {} makes {} of {}, expected at least 0",
                  a, size, dims[a].size());
    result.emplace_back(size);
  }
  return SameType(input, std::move(result));
}

Result<std::vector<ValueType>> InferTile(const InferenceInput& input) {
  const auto& dims = input.operand(0).dims;
  TUNEC_RETURN_IF_ERROR(RequireLength(input, "repeats", dims.size()));
  std::vector<Dim> result;
  for (size_t a = 0; a < dims.size(); ++a) {
    const int64_t repeat = input.Ints("repeats")[a];
    if (repeat < 0 || (repeat != 1 && !dims[a].IsFixed()))
      return Fail(ErrorCode::kInvalidArgument, "tile repeats axis {} of size {} {} times", a,
                  DimText(dims[a]), repeat);
    int64_t size = 0;
    if (repeat != 1 && __builtin_mul_overflow(dims[a].size(), repeat, &size))
      return Fail(ErrorCode::kInvalidArgument, "tile repeats axis {} {} times, expected less", a,
                  repeat);
    result.push_back(repeat == 1 ? dims[a] : Dim(size));
  }
  return SameType(input, std::move(result));
}

}  // namespace tunec
