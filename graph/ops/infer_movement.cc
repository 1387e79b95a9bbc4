// Type and shape inference for transpose, reshape, expand, slice, concat, pad and tile.
#include <algorithm>
#include <numeric>

#include "graph/ops/infer.h"
#include "ir/expr/index_expr.h"
#include "ir/size/size_text.h"

namespace tunec {
namespace {

Status RequireLength(const InferenceInput& input, std::string_view name, size_t expected) {
  const size_t length = input.Sizes(name).size();
  if (length == expected) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} attribute {} has {} entries, expected {} for {}",
              Name(input.op), name, length, expected, ShapeText(input.operand(0).dims));
}

Dim ElementsOf(const std::vector<Dim>& dims) {
  Dim elements = 1;
  for (const Dim& dim : dims) elements = elements * dim;
  return elements;
}

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
  const std::vector<Dim> shape = input.Sizes("shape");
  const Dim have = ElementsOf(input.operand(0).dims);
  if (!input.Allows(SizeCondition::Kind::kEqual, have, ElementsOf(shape)))
    return Fail(ErrorCode::kInvalidArgument,
                "reshape sizes differ: input is {} with {} elements, shape is [{}]",
                ShapeText(input.operand(0).dims), Print(have), PrintList(shape));
  return SameType(input, shape);
}

Result<std::vector<ValueType>> InferExpand(const InferenceInput& input) {
  const std::vector<Dim> shape = input.Sizes("shape");
  const auto& dims = input.operand(0).dims;
  if (!BroadcastsTo(input, dims, shape))
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
  const std::vector<Dim> starts = input.Sizes("starts"), ends = input.Sizes("ends");
  const std::vector<int64_t>& steps = input.Ints("steps");
  std::vector<Dim> result;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (starts[a].IsConstant() && ends[a].IsConstant() && dims[a].IsConstant()) {
      TUNEC_ASSIGN(const int64_t length,
                   SliceLength(starts[a].Value(), ends[a].Value(), steps[a], dims[a].Value(), a));
      result.emplace_back(length);
      continue;
    }
    // The elements of a slice are between `least` and `end`.
    const bool is_forward = steps[a] > 0;
    const Dim least = is_forward ? starts[a] : ends[a] + 1;
    const Dim end = is_forward ? ends[a] : starts[a] + 1;
    if (steps[a] == 0 || !input.Allows(SizeCondition::Kind::kAtMost, 0, least) ||
        !input.Allows(SizeCondition::Kind::kAtMost, end, dims[a]))
      return Fail(ErrorCode::kInvalidArgument, "slice of axis {} is {}:{}:{}, of {} elements", a,
                  Print(starts[a]), Print(ends[a]), steps[a], Print(dims[a]));
    result.push_back(Dim::Max(0, Dim::CeilDiv(ends[a] - starts[a], steps[a])));
  }
  return SameType(input, std::move(result));
}

Result<std::vector<ValueType>> InferConcat(const InferenceInput& input) {
  std::vector<Dim> dims = input.operand(0).dims;
  TUNEC_ASSIGN(const int64_t axis, CompleteAxis(input, dims.size()));
  Dim total;
  for (size_t i = 0; i < input.operands.size(); ++i) {
    TUNEC_RETURN_IF_ERROR(RequireSameType(input, i));
    const std::vector<Dim>& other = input.operand(i).dims;
    bool fits = other.size() == dims.size();
    for (size_t a = 0; a < dims.size() && fits; ++a) {
      fits = static_cast<int64_t>(a) == axis ||
             input.Allows(SizeCondition::Kind::kEqual, other[a], dims[a]);
    }
    if (fits) total = total + other[axis];
    if (!fits)
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
  constexpr int64_t kHuge = int64_t{1} << 48;
  const auto is_huge = [](const Dim& pad) {
    const int64_t number = pad.AsConstant().value_or(0);
    return !pad.IsKnown() || number < -kHuge || number > kHuge;
  };
  const std::vector<Dim> pads = input.Sizes("pads");
  std::vector<Dim> result;
  for (size_t a = 0; a < dims.size(); ++a) {
    const Dim& begin = pads[a];
    const Dim& end = pads[a + dims.size()];
    if (is_huge(begin) || is_huge(end))
      return Fail(ErrorCode::kInvalidArgument, "pad of axis {} is {} and {}, expected less", a,
                  Print(begin), Print(end));
    const Dim size = dims[a] + (begin + end);
    const bool needs_elements = mode != "constant" && size != Dim(0) && size != dims[a];
    if (!input.Allows(SizeCondition::Kind::kAtMost, 0, size) ||
        (needs_elements && !input.Allows(SizeCondition::Kind::kAtMost, 1, dims[a])))
      return Fail(ErrorCode::kInvalidArgument, "pad of axis {} makes {} of {}, expected at least 0",
                  a, Print(size), DimText(dims[a]));
    result.push_back(size);
  }
  return SameType(input, std::move(result));
}

Result<std::vector<ValueType>> InferTile(const InferenceInput& input) {
  const auto& dims = input.operand(0).dims;
  TUNEC_RETURN_IF_ERROR(RequireLength(input, "repeats", dims.size()));
  const std::vector<Dim> repeats = input.Sizes("repeats");
  std::vector<Dim> result;
  for (size_t a = 0; a < dims.size(); ++a) {
    const Dim& repeat = repeats[a];
    const Dim size = dims[a] * repeat;
    if (!size.IsKnown())
      return Fail(ErrorCode::kInvalidArgument, "tile repeats axis {} {} times, expected less", a,
                  Print(repeat));
    if (!input.Allows(SizeCondition::Kind::kAtMost, 0, repeat))
      return Fail(ErrorCode::kInvalidArgument, "tile repeats axis {} of size {} {} times", a,
                  DimText(dims[a]), Print(repeat));
    result.push_back(size);
  }
  return SameType(input, std::move(result));
}

}  // namespace tunec
