#include "graph/rules/rule_functions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "graph/ops/op_table.h"
#include "graph/rules/value_range.h"

namespace tunec {
namespace {

using Ints = std::vector<int64_t>;
using Arguments = std::span<const RuleArgument>;
constexpr std::nullopt_t kUndefined = std::nullopt;

RuleValue Truth(bool holds) { return Attribute(int64_t{holds}); }

const int64_t* AsInt(const Attribute& attribute) { return std::get_if<int64_t>(&attribute); }
const Ints* AsInts(const Attribute& attribute) { return std::get_if<Ints>(&attribute); }

// --- arithmetic -------------------------------------------------------------------------------

template <class F>
RuleValue OnLists(const Attribute& a, const Attribute& b, const F& apply) {
  const Ints* left = AsInts(a);
  const Ints* right = AsInts(b);
  const size_t size = left != nullptr ? left->size() : right->size();
  if (left != nullptr && right != nullptr && left->size() != right->size()) return kUndefined;
  Ints result(size);
  for (size_t i = 0; i < size; ++i) {
    const int64_t* x = left != nullptr ? &(*left)[i] : AsInt(a);
    const int64_t* y = right != nullptr ? &(*right)[i] : AsInt(b);
    if (x == nullptr || y == nullptr || apply(*x, *y, &result[i])) return kUndefined;
  }
  return Attribute(std::move(result));
}

// Computes with integers if both arguments are integers or lists of integers, and with doubles for
// all other pairs of numbers. Lists are computed element by element. An integer overflow, lists of
// different lengths, and all other arguments give kUndefined.
template <class OnInts, class OnDoubles>
RuleValue Arithmetic(Arguments in, const OnInts& ints, const OnDoubles& doubles) {
  const Attribute& a = in[0].attribute;
  const Attribute& b = in[1].attribute;
  if (AsInts(a) != nullptr || AsInts(b) != nullptr) return OnLists(a, b, ints);
  const int64_t* x = AsInt(a);
  const int64_t* y = AsInt(b);
  int64_t result = 0;
  if (x != nullptr && y != nullptr) {
    if (ints(*x, *y, &result)) return kUndefined;
    return Attribute(result);
  }
  const auto left = AsNumber(a);
  const auto right = AsNumber(b);
  if (!left || !right) return kUndefined;
  return Attribute(doubles(*left, *right));
}

RuleValue Add(const MatchSite&, Arguments in) {
  return Arithmetic(
      in, [](int64_t a, int64_t b, int64_t* c) { return __builtin_add_overflow(a, b, c); },
      std::plus<double>());
}

RuleValue Subtract(const MatchSite&, Arguments in) {
  return Arithmetic(
      in, [](int64_t a, int64_t b, int64_t* c) { return __builtin_sub_overflow(a, b, c); },
      std::minus<double>());
}

RuleValue Multiply(const MatchSite&, Arguments in) {
  return Arithmetic(
      in, [](int64_t a, int64_t b, int64_t* c) { return __builtin_mul_overflow(a, b, c); },
      std::multiplies<double>());
}

// Divides two numbers. The quotient is an integer if both numbers are integers, the division has no
// remainder, and the divisor is not -1. The divisor 0 and arguments other than numbers give
// kUndefined.
RuleValue Divide(const MatchSite&, Arguments in) {
  const int64_t* a = AsInt(in[0].attribute);
  const int64_t* b = AsInt(in[1].attribute);
  if (a != nullptr && b != nullptr && *b != 0 && *b != -1 && *a % *b == 0)
    return Attribute(*a / *b);
  const auto x = AsNumber(in[0].attribute);
  const auto y = AsNumber(in[1].attribute);
  if (!x || !y || *y == 0) return kUndefined;
  return Attribute(*x / *y);
}

template <class Compare>
RuleValue Order(const MatchSite&, Arguments in) {
  const auto a = AsNumber(in[0].attribute);
  const auto b = AsNumber(in[1].attribute);
  if (!a || !b) return kUndefined;
  return Truth(Compare()(*a, *b));
}

RuleValue Equal(const MatchSite&, Arguments in) {
  return Truth(AreEqualAttributes(in[0].attribute, in[1].attribute));
}
RuleValue Unequal(const MatchSite&, Arguments in) {
  return Truth(!AreEqualAttributes(in[0].attribute, in[1].attribute));
}

template <double (*kFunction)(double)>
RuleValue OfNumber(const MatchSite&, Arguments in) {
  const auto x = AsNumber(in[0].attribute);
  if (!x) return kUndefined;
  return Attribute(kFunction(*x));
}

// Returns whether x or -x is a power of two from 2^-13 to 2^11. Then 1 / x is exact in every float
// type.
RuleValue IsPowerOfTwo(const MatchSite&, Arguments in) {
  const auto x = AsNumber(in[0].attribute);
  int exponent = 0;
  if (!x || !std::isfinite(*x)) return Truth(false);
  return Truth(std::abs(std::frexp(*x, &exponent)) == 0.5 && std::abs(exponent) <= 12);
}

// --- lists ------------------------------------------------------------------------------------

RuleValue Size(const MatchSite&, Arguments in) {
  const Ints* list = AsInts(in[0].attribute);
  if (list == nullptr) return kUndefined;
  return Attribute(static_cast<int64_t>(list->size()));
}

// Returns list[index], or kUndefined if there is no such element. Negative indices count from the
// end.
RuleValue Element(const MatchSite&, Arguments in) {
  const Ints* list = AsInts(in[0].attribute);
  const int64_t* index = AsInt(in[1].attribute);
  if (list == nullptr || index == nullptr) return kUndefined;
  const auto size = static_cast<int64_t>(list->size());
  const int64_t at = *index < 0 ? *index + size : *index;
  if (at < 0 || at >= size) return kUndefined;
  return Attribute((*list)[at]);
}

// Returns the elements of a list at a list of indices. A negative or too large index gives
// kUndefined.
RuleValue Take(const MatchSite&, Arguments in) {
  const Ints* list = AsInts(in[0].attribute);
  const Ints* indices = AsInts(in[1].attribute);
  if (list == nullptr || indices == nullptr) return kUndefined;
  Ints taken;
  for (const int64_t i : *indices) {
    if (i < 0 || i >= static_cast<int64_t>(list->size())) return kUndefined;
    taken.push_back((*list)[i]);
  }
  return Attribute(std::move(taken));
}

RuleValue Part(const MatchSite&, Arguments in) {
  const Ints* list = AsInts(in[0].attribute);
  const int64_t* begin = AsInt(in[1].attribute);
  const int64_t* end = AsInt(in[2].attribute);
  if (list == nullptr || begin == nullptr || end == nullptr) return kUndefined;
  if (*begin < 0 || *end < *begin || *end > static_cast<int64_t>(list->size())) return kUndefined;
  return Attribute(Ints(list->begin() + *begin, list->begin() + *end));
}

RuleValue Join(const MatchSite&, Arguments in) {
  const Ints* a = AsInts(in[0].attribute);
  const Ints* b = AsInts(in[1].attribute);
  if (a == nullptr || b == nullptr) return kUndefined;
  Ints joined = *a;
  joined.insert(joined.end(), b->begin(), b->end());
  return Attribute(std::move(joined));
}

RuleValue Iota(const MatchSite&, Arguments in) {
  const int64_t* count = AsInt(in[0].attribute);
  if (count == nullptr || *count < 0 || *count > 64) return kUndefined;
  Ints list(*count);
  std::iota(list.begin(), list.end(), 0);
  return Attribute(std::move(list));
}

RuleValue Least(const MatchSite&, Arguments in) {
  const Ints* list = AsInts(in[0].attribute);
  if (list == nullptr || list->empty()) return kUndefined;
  return Attribute(std::ranges::min(*list));
}

RuleValue Greatest(const MatchSite&, Arguments in) {
  const Ints* list = AsInts(in[0].attribute);
  if (list == nullptr || list->empty()) return kUndefined;
  return Attribute(std::ranges::max(*list));
}

// --- values of the graph ----------------------------------------------------------------------

RuleValue Rank(const MatchSite& site, Arguments in) {
  return Attribute(static_cast<int64_t>(site.TypeOf(in[0].value).dims.size()));
}

RuleValue Shape(const MatchSite& site, Arguments in) {
  const ValueType& type = site.TypeOf(in[0].value);
  if (!type.IsFixed()) return kUndefined;
  return Attribute(type.Shape());
}

RuleValue Extent(const MatchSite& site, Arguments in) {
  const std::vector<Dim>& dims = site.TypeOf(in[0].value).dims;
  const int64_t* axis = AsInt(in[1].attribute);
  if (axis == nullptr) return kUndefined;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t at = *axis < 0 ? *axis + rank : *axis;
  if (at < 0 || at >= rank || !dims[at].IsConstant()) return kUndefined;
  return Attribute(dims[at].Value());
}

// Returns the extents of the axes [begin, end). A dynamic extent or an invalid interval gives
// kUndefined.
RuleValue Extents(const MatchSite& site, Arguments in) {
  const std::vector<Dim>& dims = site.TypeOf(in[0].value).dims;
  const int64_t* begin = AsInt(in[1].attribute);
  const int64_t* end = AsInt(in[2].attribute);
  if (begin == nullptr || end == nullptr) return kUndefined;
  if (*begin < 0 || *end < *begin || *end > static_cast<int64_t>(dims.size())) return kUndefined;
  Ints extents;
  for (int64_t d = *begin; d < *end; ++d) {
    if (!dims[d].IsConstant()) return kUndefined;
    extents.push_back(dims[d].Value());
  }
  return Attribute(std::move(extents));
}

// Returns whether the first value has any number of extents 1, followed by the extents of the
// second value from an axis on.
RuleValue SpansFrom(const MatchSite& site, Arguments in) {
  const std::vector<Dim>& dims = site.TypeOf(in[0].value).dims;
  const std::vector<Dim>& whole = site.TypeOf(in[1].value).dims;
  const int64_t* axis = AsInt(in[2].attribute);
  if (axis == nullptr || *axis < 0 || *axis > static_cast<int64_t>(whole.size())) return kUndefined;
  const size_t spanned = whole.size() - static_cast<size_t>(*axis);
  if (dims.size() < spanned) return Truth(false);
  const size_t before = dims.size() - spanned;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != (d < before ? Dim(1) : whole[static_cast<size_t>(*axis) + d - before]))
      return Truth(false);
  return Truth(true);
}

RuleValue Elements(const MatchSite& site, Arguments in) {
  const ValueType& type = site.TypeOf(in[0].value);
  if (!type.IsFixed()) return kUndefined;
  return Attribute(ElementCount(type.Shape()));
}

RuleValue Type(const MatchSite& site, Arguments in) {
  return Attribute(std::string(Name(site.TypeOf(in[0].value).type)));
}

RuleValue IsFloatValue(const MatchSite& site, Arguments in) {
  return Truth(IsFloat(site.TypeOf(in[0].value).type));
}
RuleValue IsIntegerValue(const MatchSite& site, Arguments in) {
  return Truth(IsInteger(site.TypeOf(in[0].value).type));
}
RuleValue IsConstant(const MatchSite& site, Arguments in) {
  return Truth(site.ConstantOf(in[0].value) != nullptr);
}
// Returns whether the value is neither an input, a constant nor a range, and its node has a single
// output and no nested graphs.
RuleValue IsComputed(const MatchSite& site, Arguments in) {
  return Truth(KindOf(site.NodeOf(in[0].value).op) != OpKind::kData);
}
RuleValue IsUniform(const MatchSite& site, Arguments in) {
  return Truth(site.Uniform(in[0].value).has_value());
}
RuleValue Uses(const MatchSite& site, Arguments in) {
  if (in[0].value == kRootValue) return kUndefined;
  return Attribute(int64_t{site.uses[in[0].value.index]});
}
RuleValue UniformValue(const MatchSite& site, Arguments in) {
  const auto value = site.Uniform(in[0].value);
  if (!value) return kUndefined;
  return Attribute(*value);
}
RuleValue UniformInteger(const MatchSite& site, Arguments in) {
  const auto value = site.Uniform(in[0].value);
  if (!value || IsFloat(site.TypeOf(in[0].value).type)) return kUndefined;
  return Attribute(static_cast<int64_t>(*value));
}
RuleValue SameShape(const MatchSite& site, Arguments in) {
  return Truth(site.TypeOf(in[0].value).dims == site.TypeOf(in[1].value).dims);
}
RuleValue Like(const MatchSite& site, Arguments in) {
  return Truth(site.TypeOf(in[0].value) == site.TypeOf(in[1].value));
}

// Returns whether a transpose by the permutation preserves the order of the axes whose extent is
// not 1.
RuleValue KeepsOrder(const MatchSite& site, Arguments in) {
  const ValueType& type = site.TypeOf(in[0].value);
  const Ints* permutation = AsInts(in[1].attribute);
  if (!type.IsFixed() || permutation == nullptr) return kUndefined;
  Ints moved;
  for (const int64_t axis : *permutation) {
    if (axis < 0 || axis >= std::ssize(type.dims)) return kUndefined;
    if (type.dims[static_cast<size_t>(axis)].Value() != 1) moved.push_back(axis);
  }
  return Truth(std::ranges::is_sorted(moved));
}

// Returns whether the second value's element type can represent every number of the first value's
// type. Returns false if the types are of different classes (float, integer, bool).
RuleValue Holds(const MatchSite& site, Arguments in) {
  const DataType narrow = site.TypeOf(in[0].value).type;
  const DataType wide = site.TypeOf(in[1].value).type;
  if (wide == narrow) return Truth(true);
  if (IsFloat(wide) && IsFloat(narrow))
    return Truth(wide == DataType::kF64 || (wide == DataType::kF32 && narrow != DataType::kF64));
  if (IsInteger(wide) && IsInteger(narrow) && SizeOf(wide) > SizeOf(narrow))
    return Truth(IsSigned(wide) || !IsSigned(narrow));
  return Truth(false);
}

// --- proofs -----------------------------------------------------------------------------------

RuleValue FastMath(const MatchSite& site, Arguments) {
  return Truth(site.rules == FloatRules::kFast);
}
RuleValue IsFinite(const MatchSite& site, Arguments in) {
  return Truth(RangeOf(site, in[0].value).IsFinite());
}
RuleValue IsNonzero(const MatchSite& site, Arguments in) {
  const ValueRange range = RangeOf(site, in[0].value);
  return Truth(!range.nan && !range.ContainsZero());
}
// Returns whether the value's range excludes negative numbers and -0.0. NaNs are allowed.
RuleValue IsPositiveOrZero(const MatchSite& site, Arguments in) {
  const ValueRange range = RangeOf(site, in[0].value);
  return Truth(range.low >= 0 && !range.negative_zero);
}
RuleValue MayBeNegativeZero(const MatchSite& site, Arguments in) {
  return Truth(RangeOf(site, in[0].value).negative_zero);
}
// Returns whether |b| <= factor * |a| for all elements of two constants with the same shape.
// Returns kUndefined for all other arguments.
RuleValue Bounds(const MatchSite& site, Arguments in) {
  const Array* a = site.ConstantOf(in[0].value);
  const Array* b = site.ConstantOf(in[1].value);
  const auto factor = AsNumber(in[2].attribute);
  if (a == nullptr || b == nullptr || !factor || a->shape() != b->shape()) return kUndefined;
  for (int64_t i = 0; i < a->size(); ++i)
    if (!(std::abs(b->GetDouble(i)) <= *factor * std::abs(a->GetDouble(i)))) return Truth(false);
  return Truth(true);
}
RuleValue Low(const MatchSite& site, Arguments in) {
  return Attribute(RangeOf(site, in[0].value).low);
}
RuleValue High(const MatchSite& site, Arguments in) {
  return Attribute(RangeOf(site, in[0].value).high);
}

constexpr RuleFunction kFunctions[] = {
    {"+", "ee", Add},
    {"-", "ee", Subtract},
    {"*", "ee", Multiply},
    {"/", "ee", Divide},
    {"==", "ee", Equal},
    {"!=", "ee", Unequal},
    {"<", "ee", Order<std::less<>>},
    {"<=", "ee", Order<std::less_equal<>>},
    {">", "ee", Order<std::greater<>>},
    {">=", "ee", Order<std::greater_equal<>>},
    {"[]", "ee", Element},
    {"sqrt", "e", OfNumber<std::sqrt>},
    {"exp", "e", OfNumber<std::exp>},
    {"abs", "e", OfNumber<std::abs>},
    {"power_of_two", "e", IsPowerOfTwo},
    {"size", "e", Size},
    {"take", "ee", Take},
    {"part", "eee", Part},
    {"join", "ee", Join},
    {"iota", "e", Iota},
    {"min", "e", Least},
    {"max", "e", Greatest},
    {"rank", "v", Rank},
    {"shape", "v", Shape},
    {"dim", "ve", Extent},
    {"dims", "vee", Extents},
    {"spans", "vve", SpansFrom},
    {"elements", "v", Elements},
    {"type", "v", Type},
    {"float", "v", IsFloatValue},
    {"integer", "v", IsIntegerValue},
    {"constant", "v", IsConstant},
    {"computed", "v", IsComputed},
    {"uniform", "v", IsUniform},
    {"uses", "v", Uses},
    {"value", "v", UniformValue},
    {"integer_value", "v", UniformInteger},
    {"same_shape", "vv", SameShape},
    {"like", "vv", Like},
    {"keeps_order", "ve", KeepsOrder},
    {"holds", "vv", Holds},
    {"fast_math", "", FastMath},
    {"finite", "v", IsFinite},
    {"nonzero", "v", IsNonzero},
    {"nonnegative", "v", IsPositiveOrZero},
    {"negative_zero", "v", MayBeNegativeZero},
    {"bounds", "vve", Bounds},
    {"low", "v", Low},
    {"high", "v", High},
};

RuleValue EvaluateCall(const RuleExpr& expr, const MatchSite& site, const RuleBindings& bindings) {
  std::vector<RuleArgument> arguments(expr.operands.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const RuleExpr& operand = expr.operands[i];
    if (expr.function->parameters[i] == 'v') {
      arguments[i].value = bindings[operand.variable].value;
      if (!arguments[i].value.valid()) return kUndefined;
      continue;
    }
    RuleValue value = Evaluate(operand, site, bindings);
    if (!value) return kUndefined;
    arguments[i].attribute = *std::move(value);
  }
  return expr.function->call(site, arguments);
}

RuleValue EvaluateList(const RuleExpr& expr, const MatchSite& site, const RuleBindings& bindings) {
  Ints list;
  for (const RuleExpr& operand : expr.operands) {
    const RuleValue value = Evaluate(operand, site, bindings);
    if (!value || AsInt(*value) == nullptr) return kUndefined;
    list.push_back(*AsInt(*value));
  }
  return Attribute(std::move(list));
}

}  // namespace

const RuleFunction* FindRuleFunction(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, &RuleFunction::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

std::optional<double> AsNumber(const Attribute& attribute) {
  if (const int64_t* integer = AsInt(attribute)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&attribute)) return *number;
  return {};
}

bool IsTrue(const RuleValue& value) {
  if (!value) return false;
  const auto number = AsNumber(*value);
  return number && *number != 0;
}

bool AreEqualAttributes(const Attribute& a, const Attribute& b) {
  const auto x = AsNumber(a);
  const auto y = AsNumber(b);
  return x && y ? *x == *y : a == b;
}

RuleValue AttributeOf(const NodeView& node, std::string_view name) {
  if (node.attributes == nullptr) return kUndefined;
  if (const auto found = node.attributes->find(name); found != node.attributes->end())
    return found->second;
  const AttributeSpec* spec = FindAttribute(node.op, name);
  if (spec == nullptr || spec->absence != Absence::kDefault) return kUndefined;
  return spec->default_value;
}

RuleValue Evaluate(const RuleExpr& expr, const MatchSite& site, const RuleBindings& bindings) {
  switch (expr.kind) {
    case RuleExpr::Kind::kLiteral:
      return expr.literal;
    case RuleExpr::Kind::kList:
      return EvaluateList(expr, site, bindings);
    case RuleExpr::Kind::kVariable:
      return bindings[expr.variable].attribute;
    case RuleExpr::Kind::kNodeAttribute:
      return AttributeOf(site.NodeOf(bindings[expr.variable].value), expr.attribute);
    case RuleExpr::Kind::kCall:
      return EvaluateCall(expr, site, bindings);
    case RuleExpr::Kind::kAnd:
      for (const RuleExpr& operand : expr.operands)
        if (!IsTrue(Evaluate(operand, site, bindings))) return Truth(false);
      return Truth(true);
    case RuleExpr::Kind::kOr:
      for (const RuleExpr& operand : expr.operands)
        if (IsTrue(Evaluate(operand, site, bindings))) return Truth(true);
      return Truth(false);
    case RuleExpr::Kind::kNot: {
      const RuleValue value = Evaluate(expr.operands[0], site, bindings);
      if (!value) return kUndefined;
      return Truth(!IsTrue(value));
    }
  }
  return kUndefined;
}

}  // namespace tunec
