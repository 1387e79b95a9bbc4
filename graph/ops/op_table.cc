#include "graph/ops/op_table.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "graph/ops/infer.h"
#include "support/check.h"

namespace tunec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

AttributeSpec Int(std::string_view name, int64_t value) {
  return {name, AttributeKind::kInt, Absence::kDefault, value};
}
AttributeSpec Float(std::string_view name, double value) {
  return {name, AttributeKind::kFloat, Absence::kDefault, value};
}
AttributeSpec String(std::string_view name, const char* value) {
  return {name, AttributeKind::kString, Absence::kDefault, std::string(value)};
}
AttributeSpec Derived(std::string_view name, AttributeKind kind = AttributeKind::kInts) {
  return {name, kind, Absence::kDerived, int64_t{0}};
}
AttributeSpec Optional(std::string_view name, AttributeKind kind) {
  return {name, kind, Absence::kMeaningful, int64_t{0}};
}
AttributeSpec Required(std::string_view name, AttributeKind kind = AttributeKind::kInts) {
  return {name, kind, Absence::kError, int64_t{0}};
}

AttributeSpec TakesSizes(AttributeSpec attribute) {
  attribute.takes_sizes = true;
  return attribute;
}

// Functions for the column `operands` of op_list.h. They return a row without its operator, which
// the table adds.
using enum Domain;

OpSpec Operands(int least, int most, Domain domain, InferTypes infer,
                std::vector<AttributeSpec> attributes = {}) {
  return {Op::kIdentity, least, most, domain, std::move(attributes), infer};
}

OpSpec Leaf() { return Operands(0, 0, kAny, InferInput); }
OpSpec Constant() {
  return Operands(0, 0, kAny, InferInput, {Optional("init", AttributeKind::kString)});
}

OpSpec Unary(Domain domain, std::vector<AttributeSpec> attributes = {}) {
  return Operands(1, 1, domain, InferUnary, std::move(attributes));
}
OpSpec Alpha(double alpha) { return Unary(kFloat, {Float("alpha", alpha)}); }
OpSpec ToDevice() { return Unary(kAny, {Required("device", AttributeKind::kString)}); }
OpSpec Predicate(std::vector<AttributeSpec> attributes = {}) {
  return Operands(1, 1, kFloat, InferPredicate, std::move(attributes));
}
OpSpec Gelu() { return Operands(1, 1, kFloat, InferGelu, {String("approximate", "none")}); }
OpSpec Cast() { return Operands(1, 1, kAny, InferCast, {Required("to", AttributeKind::kString)}); }

OpSpec Binary(Domain domain, std::vector<AttributeSpec> attributes = {}) {
  return Operands(2, 2, domain, InferBinary, std::move(attributes));
}
OpSpec Comparison(Domain domain) { return Operands(2, 2, domain, InferComparison); }
OpSpec Prelu() { return Operands(2, 2, kNumber, InferPrelu); }
OpSpec Where() { return Operands(3, 3, kAny, InferWhere); }

OpSpec Matmul() {
  return Operands(2, 2, kNumber, InferMatmul, {Int("transpose_a", 0), Int("transpose_b", 0)});
}
OpSpec Conv() {
  return Operands(
      2, 3, kNumber, InferConv,
      {Derived("strides"), TakesSizes(Derived("pads")), Derived("dilations"), Int("group", 1)});
}
OpSpec ConvTranspose() {
  return Operands(2, 3, kNumber, InferConvTranspose,
                  {Derived("strides"), TakesSizes(Derived("pads")), Derived("dilations"),
                   Int("group", 1), Derived("output_padding")});
}
OpSpec Attention() {
  return Operands(3, 4, kAny, InferAttention,
                  {Derived("scale", AttributeKind::kFloat), Float("softcap", 0), Int("causal", 0),
                   TakesSizes(Int("causal_offset", 0)), Int("window", 0),
                   Float("hidden", -kInfinity), String("empty_rows", "nan")});
}

OpSpec Reduction(Domain domain) {
  return Operands(1, 1, domain, InferReduction, {Derived("axes"), Int("keepdims", 1)});
}
OpSpec Arg() {
  return Operands(1, 1, kNumber, InferArg,
                  {Int("axis", 0), Int("keepdims", 1), Int("select_last_index", 0)});
}
OpSpec MaxPool() {
  return Operands(1, 1, kNumber, InferPool,
                  {TakesSizes(Required("kernel")), Derived("strides"), TakesSizes(Derived("pads")),
                   Derived("dilations")});
}
OpSpec AveragePool() {
  return Operands(1, 1, kFloat, InferPool,
                  {TakesSizes(Required("kernel")), Derived("strides"), TakesSizes(Derived("pads")),
                   Derived("dilations"), Int("count_include_pad", 0)});
}
OpSpec CumSum() {
  return Operands(1, 1, kNumber, InferAlongAxis,
                  {Required("axis", AttributeKind::kInt), Int("exclusive", 0), Int("reverse", 0)});
}

AttributeSpec Epsilon() { return Float("epsilon", 1e-5); }
OpSpec ChannelNorm(int operands) {
  return Operands(operands, operands, kFloat, InferChannelNorm, {Epsilon()});
}
OpSpec GroupNorm() {
  return Operands(3, 3, kFloat, InferGroupNorm,
                  {Required("groups", AttributeKind::kInt), Epsilon()});
}
OpSpec AxisNorm(int most_operands) {
  return Operands(2, most_operands, kFloat, InferAxisNorm, {Int("axis", -1), Epsilon()});
}
OpSpec Lrn() {
  return Operands(1, 1, kFloat, InferLrn,
                  {Required("size", AttributeKind::kInt), Float("alpha", 1e-4), Float("beta", 0.75),
                   Float("bias", 1)});
}
OpSpec AlongAxis() { return Operands(1, 1, kFloat, InferAlongAxis, {Int("axis", -1)}); }

OpSpec Moved(int operands, InferTypes infer, std::vector<AttributeSpec> attributes) {
  return Operands(operands, operands, kAny, infer, std::move(attributes));
}
OpSpec Transpose() { return Moved(1, InferTranspose, {Derived("perm")}); }
OpSpec Reshape() { return Moved(1, InferReshape, {TakesSizes(Required("shape"))}); }
OpSpec Expand() { return Moved(1, InferExpand, {TakesSizes(Required("shape"))}); }
OpSpec Slice() {
  return Moved(1, InferSlice,
               {TakesSizes(Required("starts")), TakesSizes(Required("ends")), Derived("steps")});
}
OpSpec Concat() {
  return Operands(1, kAnyNumber, kAny, InferConcat, {Required("axis", AttributeKind::kInt)});
}
OpSpec Pad() {
  return Moved(1, InferPad,
               {TakesSizes(Required("pads")), Float("value", 0), String("mode", "constant")});
}
OpSpec Tile() { return Moved(1, InferTile, {TakesSizes(Required("repeats"))}); }
OpSpec Gather() { return Moved(2, InferGather, {Int("axis", 0)}); }
OpSpec GatherElements() { return Moved(2, InferGatherElements, {Int("axis", 0)}); }
OpSpec Scatter() {
  return Moved(3, InferScatter, {Int("axis", 0), Int("depth", 1), String("reduction", "none")});
}
OpSpec Resize() {
  return Operands(1, 1, kNumber, InferResize,
                  {TakesSizes(Derived("shape")), Derived("scales", AttributeKind::kFloats),
                   String("mode", "nearest"), String("coordinate", "half_pixel"),
                   String("nearest_mode", "round_prefer_floor"), Float("cubic_a", -0.75),
                   Int("exclude_outside", 0)});
}
OpSpec Range() {
  return Moved(0, InferRange,
               {TakesSizes(Required("start", AttributeKind::kFloat)),
                TakesSizes(Required("limit", AttributeKind::kFloat)),
                Required("delta", AttributeKind::kFloat), Required("to", AttributeKind::kString)});
}
OpSpec RotaryEmbedding() {
  return Operands(3, 3, kFloat, InferRotaryEmbedding, {Int("interleaved", 0)});
}
OpSpec OneHot() {
  return Operands(1, 1, kNumber, InferOneHot,
                  {TakesSizes(Required("depth", AttributeKind::kInt)), Int("axis", -1),
                   Float("on_value", 1), Float("off_value", 0), String("to", "f32")});
}

OpSpec Control(InferTypes infer, std::vector<AttributeSpec> attributes = {}) {
  return Operands(1, kAnyNumber, kAny, infer, std::move(attributes));
}
OpSpec Scan() { return Control(InferScan, {Required("states", AttributeKind::kInt)}); }
OpSpec Alloc() {
  return Operands(0, 0, kAny, InferAlloc,
                  {Required("shape"), Required("type", AttributeKind::kString)});
}
OpSpec Free() { return Operands(1, 1, kAny, InferFree); }

OpSpec Of(Op op, OpSpec spec) {
  spec.op = op;
  return spec;
}

}  // namespace

const OpSpec& SpecOf(Op op) {
  static const std::vector<OpSpec> table = {
#define TUNEC_SPEC(id, name, kind, pattern, operands, ...) Of(Op::id, operands),
      TUNEC_OPS(TUNEC_SPEC)
#undef TUNEC_SPEC
  };
  return table[static_cast<size_t>(op)];
}

const AttributeSpec* FindAttribute(Op op, std::string_view name) {
  for (const AttributeSpec& spec : SpecOf(op).attributes)
    if (spec.name == name) return &spec;
  return nullptr;
}

bool IsDefault(Op op, std::string_view name, const Attribute& value) {
  const AttributeSpec* spec = FindAttribute(op, name);
  if (spec == nullptr || spec->absence != Absence::kDefault) return false;
  const auto number = [](const Attribute& attribute) -> std::optional<double> {
    if (const auto* real = std::get_if<double>(&attribute)) return *real;
    if (const auto* whole = std::get_if<int64_t>(&attribute)) return static_cast<double>(*whole);
    return std::nullopt;
  };
  const auto a = number(value), b = number(spec->default_value);
  if (a && b) return *a == *b && std::signbit(*a) == std::signbit(*b);
  return value == spec->default_value;
}

std::string_view Name(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return "an integer";
    case AttributeKind::kFloat:
      return "a number";
    case AttributeKind::kString:
      return "a string";
    case AttributeKind::kInts:
      return "a list of integers";
    case AttributeKind::kFloats:
      return "a list of numbers";
    case AttributeKind::kSize:
      return "a number with named sizes";
    case AttributeKind::kSizes:
      return "a list with named sizes";
  }
  TUNEC_UNREACHABLE("attribute kind {}", static_cast<int>(kind));
}

AttributeKind KindOf(const Attribute& attribute) {
  return static_cast<AttributeKind>(attribute.index());
}

}  // namespace tunec
