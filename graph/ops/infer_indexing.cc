// Type and shape inference for gather, gather_elements, scatter, resize, range and one_hot.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "graph/ops/infer.h"
#include "graph/ops/scale_fraction.h"
#include "ir/size/size_text.h"

namespace tunec {
namespace {

Status RequireIndices(const InferenceInput& input, size_t operand) {
  if (IsInteger(input.operand(operand).type)) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} indices are {}, expected an integer type",
              Name(input.op), Name(input.operand(operand).type));
}

Status RequireOneOf(const InferenceInput& input, std::string_view name,
                    std::initializer_list<std::string_view> values) {
  const std::string& value = input.String(name);
  for (const std::string_view allowed : values)
    if (value == allowed) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} attribute {} is \"{}\", expected one of {}",
              Name(input.op), name, value, fmt::join(values, ", "));
}

/// Checks an axis for indexing. An axis without elements allows only an empty set of indices.
Status RequireElements(const InferenceInput& input, int64_t axis) {
  const auto& data = input.operand(0).dims;
  const auto& indices = input.operand(1).dims;
  const bool none = std::ranges::find(indices, Dim(0)) != indices.end();
  if (none || input.Allows(SizeCondition::Kind::kAtMost, 1, data[axis])) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "{} axis {} of {} has no elements, expected some for indices of {}", Name(input.op),
              axis, ShapeText(data), ShapeText(indices));
}

/// Checks a resized axis. The scale must be positive and not too large. The size must be the extent
/// times the scale, rounded up or down.
Status CheckResize(size_t axis, int64_t from, double scale, int64_t size) {
  const double scaled = static_cast<double>(from) * scale;
  if (!(scale > 0) || !(scale < 1e12) || !(scaled < 0x1p48))
    return Fail(
        ErrorCode::kInvalidArgument,
        "resize scale of axis {} is {}, for {} elements, expected more than 0 and less than "
        "2^48 elements",
        axis, scale, from);
  if (!(std::abs(static_cast<double>(size) - scaled) < 1))
    return Fail(ErrorCode::kInvalidArgument,
                "resize of axis {} to {} elements contradicts its scale {}, which makes {} of {}",
                axis, size, scale, scaled, from);
  return {};
}

/// Returns the attribute `scales`, or an empty list if it is absent.
std::vector<double> ScalesOf(const InferenceInput& input) {
  const auto scales = input.attributes->find("scales");
  if (scales == input.attributes->end()) return {};
  return std::get<std::vector<double>>(scales->second);
}

/// Checks the numbers of sizes and scales, one for each axis. One of the lists may be empty.
Status CheckResizeCounts(size_t sizes, size_t scales, size_t axes) {
  if (sizes == 0 && scales == 0 && axes > 0)
    return Fail(ErrorCode::kInvalidArgument, "resize needs the attribute shape or scales");
  if ((sizes > 0 && sizes != axes) || (scales > 0 && scales != axes))
    return Fail(ErrorCode::kInvalidArgument, "resize has {} sizes and {} scales, expected {}",
                sizes, scales, axes);
  return {};
}

/// Returns the extent of a resized axis without a given size.
int64_t ResizedExtent(int64_t from, double scale) {
  const double size = std::floor(static_cast<double>(from) * scale);
  return std::abs(size) < 0x1p48 ? static_cast<int64_t>(size) : 0;
}

/// Returns the scale of an axis that is resized to this extent.
double QuotientOf(int64_t size, int64_t from) {
  return from == 0 ? 1 : static_cast<double>(size) / static_cast<double>(from);
}

/// Completes `shape` from `scales` or `scales` from `shape`, and checks both.
Status CompleteResize(const InferenceInput& input, const std::vector<int64_t>& from) {
  std::vector<int64_t> shape;
  if (input.Has("shape")) shape = input.Ints("shape");
  std::vector<double> scales = ScalesOf(input);
  TUNEC_RETURN_IF_ERROR(CheckResizeCounts(shape.size(), scales.size(), from.size()));
  const bool has_shape = !shape.empty(), has_scales = !scales.empty();
  for (size_t a = 0; a < from.size(); ++a) {
    if (!has_scales) scales.push_back(QuotientOf(shape[a], from[a]));
    if (!has_shape) shape.push_back(ResizedExtent(from[a], scales[a]));
    TUNEC_RETURN_IF_ERROR(CheckResize(a, from[a], scales[a], shape[a]));
  }
  (*input.attributes)["shape"] = shape;
  (*input.attributes)["scales"] = scales;
  return {};
}

/// Returns the size of a resized axis with named sizes and without a given size. Fails with
/// kUnsupported unless the product of the extent and the scale is exact in f64.
Result<Dim> ResizedDim(size_t axis, const Dim& from, double scale) {
  if (from.IsConstant()) return Dim(ResizedExtent(from.Value(), scale));
  const std::optional<Fraction> fraction = FractionOfScale(scale);
  if (fraction && fraction->Value() == scale &&
      std::has_single_bit(static_cast<uint64_t>(fraction->denominator)))
    return Dim::FloorDiv(from * fraction->numerator, fraction->denominator);
  return Fail(ErrorCode::kUnsupported, "resize scales axis {} of {} by {}, expected a shape", axis,
              Print(from), scale);
}

/// Checks an axis like CheckResize, if its extent or its size is named. Both are assumed to be at
/// least 1. Fails with kUnsupported for a scale that is no small fraction.
Status CheckNamedResize(const InferenceInput& input, size_t axis, std::optional<double> scale,
                        const Dim& size) {
  const Dim& from = input.operand(0).dims[axis];
  if (from.IsConstant() && size.IsConstant())
    return CheckResize(axis, from.Value(), scale.value_or(QuotientOf(size.Value(), from.Value())),
                       size.Value());
  const auto is_less = [&](const Dim& a, const Dim& b) {
    return input.Allows(SizeCondition::Kind::kAtMost, a + 1, b);
  };
  if (!is_less(0, from) || !is_less(0, size))
    return Fail(ErrorCode::kInvalidArgument,
                "resize of axis {} from {} to {} elements, expected at least 1", axis, Print(from),
                Print(size));
  if (!scale) return {};
  if (!(*scale > 0) || !(*scale < 1e12))
    return Fail(ErrorCode::kInvalidArgument,
                "resize scale of axis {} is {}, for {} elements, expected more than 0", axis,
                *scale, Print(from));
  const std::optional<Fraction> fraction = FractionOfScale(*scale);
  if (!fraction || fraction->Value() != *scale)
    return Fail(ErrorCode::kUnsupported,
                "resize scale of axis {} is {}, expected a small fraction for {} elements", axis,
                *scale, Print(from));
  const Dim scaled = from * fraction->numerator;
  if (is_less((size - 1) * fraction->denominator, scaled) &&
      is_less(scaled, (size + 1) * fraction->denominator))
    return {};
  return Fail(ErrorCode::kInvalidArgument,
              "resize of axis {} to {} elements contradicts its scale {} of {} elements", axis,
              Print(size), *scale, Print(from));
}

/// Infers a resize with named sizes. Scales that are not given stay absent, because they are
/// quotients of sizes.
Result<std::vector<ValueType>> InferNamedResize(const InferenceInput& input) {
  const std::vector<Dim>& dims = input.operand(0).dims;
  std::vector<Dim> shape;
  if (input.Has("shape")) shape = input.Sizes("shape");
  const std::vector<double> scales = ScalesOf(input);
  TUNEC_RETURN_IF_ERROR(CheckResizeCounts(shape.size(), scales.size(), dims.size()));
  const bool has_shape = !shape.empty();
  for (size_t a = 0; a < dims.size(); ++a) {
    if (!has_shape) {
      TUNEC_ASSIGN(shape.emplace_back(), ResizedDim(a, dims[a], scales[a]));
    }
    const auto scale = scales.empty() ? std::nullopt : std::optional(scales[a]);
    TUNEC_RETURN_IF_ERROR(CheckNamedResize(input, a, scale, shape[a]));
  }
  (*input.attributes)["shape"] = Substitute(Attribute(shape), {});
  return std::vector<ValueType>{{input.operand(0).type, std::move(shape)}};
}

Status RequireReduction(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireOneOf(input, "reduction", {"none", "add", "mul", "min", "max"}));
  if (input.String("reduction") == "none" || input.operand(0).type != DataType::kBool) return {};
  return Fail(ErrorCode::kInvalidArgument, "scatter by \"{}\" of bool, expected numbers",
              input.String("reduction"));
}

/// Checks that each dimension of the indices is 1 or equals that of the updates. Requires: equal
/// ranks.
Status RequireIndicesFit(const InferenceInput& input) {
  const auto& indices = input.operand(1).dims;
  const auto& updates = input.operand(2).dims;
  for (size_t a = 0; a < updates.size(); ++a) {
    if (input.Allows(SizeCondition::Kind::kBroadcasts, indices[a], updates[a])) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "scatter indices are {}, expected what broadcasts to updates of {}",
                ShapeText(indices), ShapeText(updates));
  }
  return {};
}

}  // namespace

Result<std::vector<ValueType>> InferScatter(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireIndices(input, 1));
  TUNEC_RETURN_IF_ERROR(RequireSameType(input, 2));
  TUNEC_RETURN_IF_ERROR(RequireReduction(input));
  const auto& data = input.operand(0).dims;
  TUNEC_ASSIGN(const int64_t axis, CompleteAxis(input, data.size()));
  const int64_t depth = input.Int("depth");
  if (depth < 1 || depth > std::ssize(data) - axis)
    return Fail(ErrorCode::kInvalidArgument, "scatter depth is {}, expected 1 to {}", depth,
                std::ssize(data) - axis);
  const size_t rank = data.size() - static_cast<size_t>(depth) + 1;
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 1, rank, rank));
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 2, rank, rank));
  TUNEC_RETURN_IF_ERROR(RequireIndicesFit(input));
  const auto& updates = input.operand(2).dims;
  for (size_t a = 0; a < rank; ++a) {
    const auto along = static_cast<size_t>(axis);
    if (a == along) continue;
    const Dim& most = data[a < along ? a : a + static_cast<size_t>(depth) - 1];
    if (input.Allows(SizeCondition::Kind::kAtMost, updates[a], most)) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "scatter updates are {}, expected at most the data's {} outside axis {}",
                ShapeText(updates), ShapeText(data), axis);
  }
  return std::vector<ValueType>{input.operand(0)};
}

Result<std::vector<ValueType>> InferGather(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireIndices(input, 1));
  const auto& data = input.operand(0).dims;
  const auto& indices = input.operand(1).dims;
  TUNEC_ASSIGN(const int64_t axis, CompleteAxis(input, data.size()));
  TUNEC_RETURN_IF_ERROR(RequireElements(input, axis));
  std::vector<Dim> dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), data.begin() + axis + 1, data.end());
  return std::vector<ValueType>{{input.operand(0).type, std::move(dims)}};
}

Result<std::vector<ValueType>> InferGatherElements(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireIndices(input, 1));
  const auto& data = input.operand(0).dims;
  const auto& indices = input.operand(1).dims;
  TUNEC_ASSIGN(const int64_t axis, CompleteAxis(input, data.size()));
  TUNEC_RETURN_IF_ERROR(RequireRank(input, 1, data.size(), data.size()));
  TUNEC_RETURN_IF_ERROR(RequireElements(input, axis));
  for (size_t a = 0; a < data.size(); ++a) {
    if (static_cast<int64_t>(a) != axis &&
        !input.Allows(SizeCondition::Kind::kAtMost, indices[a], data[a]))
      return Fail(ErrorCode::kInvalidArgument,
                  "gather_elements indices are {}, expected at most the data's {} outside axis {}",
                  ShapeText(indices), ShapeText(data), axis);
  }
  return std::vector<ValueType>{{input.operand(0).type, indices}};
}

Result<std::vector<ValueType>> InferResize(const InferenceInput& input) {
  TUNEC_RETURN_IF_ERROR(RequireOneOf(input, "mode", {"nearest", "linear", "cubic"}));
  TUNEC_RETURN_IF_ERROR(RequireOneOf(
      input, "coordinate",
      {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"}));
  TUNEC_RETURN_IF_ERROR(RequireOneOf(input, "nearest_mode",
                                     {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  const bool has_named_shape =
      input.Has("shape") && !SizesOf(input.attributes->find("shape")->second).empty();
  if (has_named_shape || !input.operand(0).IsFixed()) return InferNamedResize(input);
  TUNEC_RETURN_IF_ERROR(CompleteResize(input, input.operand(0).Shape()));
  const std::vector<int64_t>& shape = input.Ints("shape");
  return std::vector<ValueType>{
      {input.operand(0).type, std::vector<Dim>(shape.begin(), shape.end())}};
}

Result<std::vector<ValueType>> InferRange(const InferenceInput& input) {
  TUNEC_ASSIGN(const DataType type, TypeAttribute(input, "to"));
  if (type == DataType::kBool)
    return Fail(ErrorCode::kInvalidArgument, "range makes bool, expected a type of numbers");
  const auto is_named = [&](std::string_view name) {
    return !SizesOf(input.attributes->find(name)->second).empty();
  };
  if (is_named("start") || is_named("limit")) {
    const Dim start = input.Size("start"), limit = input.Size("limit");
    const Dim delta = input.Size("delta");
    const Dim count = Dim::Max(0, Dim::CeilDiv(limit - start, delta));
    if (!count.IsKnown())
      return Fail(ErrorCode::kUnsupported, "range from {} to {} needs integers with named sizes",
                  Print(start), Print(limit));
    return std::vector<ValueType>{{type, {count}}};
  }
  const double start = input.Float("start"), limit = input.Float("limit");
  const double delta = input.Float("delta");
  const double count = std::ceil((limit - start) / delta);
  if (!(std::abs(count) < 0x1p48))
    return Fail(ErrorCode::kInvalidArgument, "range from {} to {} by {} has no length", start,
                limit, delta);
  return std::vector<ValueType>{{type, {Dim(static_cast<int64_t>(std::max(count, 0.0)))}}};
}

Result<std::vector<ValueType>> InferOneHot(const InferenceInput& input) {
  std::vector<Dim> dims = input.operand(0).dims;
  TUNEC_ASSIGN(const DataType type, TypeAttribute(input, "to"));
  TUNEC_ASSIGN(const int64_t axis, CompleteAxis(input, dims.size() + 1));
  const Dim depth = input.Size("depth");
  if (!input.Allows(SizeCondition::Kind::kAtMost, 0, depth))
    return Fail(ErrorCode::kInvalidArgument, "one_hot depth is {}, expected at least 0",
                Print(depth));
  dims.insert(dims.begin() + axis, depth);
  return std::vector<ValueType>{{type, std::move(dims)}};
}

}  // namespace tunec
