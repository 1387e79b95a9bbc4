#include "graph/ops/op_table.h"

#include <limits>
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

void AddData(std::vector<OpSpec>& rows) {
  rows.push_back({Op::kInput, 0, 0, Domain::kAny, {}, InferInput});
  rows.push_back(
      {Op::kConstant, 0, 0, Domain::kAny, {Optional("init", AttributeKind::kString)}, InferInput});
}

void AddUnary(std::vector<OpSpec>& rows) {
  const auto add = [&](Op op, Domain domain, std::vector<AttributeSpec> attributes = {},
                       InferTypes infer = InferUnary) {
    rows.push_back({op, 1, 1, domain, std::move(attributes), infer});
  };
  add(Op::kIdentity, Domain::kAny);
  for (const Op op : {Op::kNeg, Op::kAbs, Op::kSign, Op::kRelu}) add(op, Domain::kNumber);
  add(Op::kNot, Domain::kBits);
  for (const Op op :
       {Op::kExp,      Op::kLog,       Op::kSqrt,  Op::kRsqrt,   Op::kReciprocal, Op::kTanh,
        Op::kErf,      Op::kSin,       Op::kCos,   Op::kTan,     Op::kAsin,       Op::kAcos,
        Op::kAtan,     Op::kSinh,      Op::kCosh,  Op::kAsinh,   Op::kAcosh,      Op::kAtanh,
        Op::kFloor,    Op::kCeil,      Op::kRound, Op::kSigmoid, Op::kSilu,       Op::kSoftplus,
        Op::kSoftsign, Op::kHardSwish, Op::kMish})
    add(op, Domain::kFloat);
  add(Op::kIsNan, Domain::kFloat, {}, InferPredicate);
  add(Op::kIsInf, Domain::kFloat, {Int("detect_negative", 1), Int("detect_positive", 1)},
      InferPredicate);
  add(Op::kLeakyRelu, Domain::kFloat, {Float("alpha", 0.01)});
  add(Op::kGelu, Domain::kFloat, {String("approximate", "none")}, InferGelu);
  add(Op::kElu, Domain::kFloat, {Float("alpha", 1)});
  add(Op::kSelu, Domain::kFloat,
      {Float("alpha", 1.67326319217681884765625), Float("gamma", 1.05070102214813232421875)});
  add(Op::kCelu, Domain::kFloat, {Float("alpha", 1)});
  add(Op::kHardSigmoid, Domain::kFloat, {Float("alpha", 0.2), Float("beta", 0.5)});
  add(Op::kThresholdedRelu, Domain::kFloat, {Float("alpha", 1)});
  add(Op::kClip, Domain::kNumber, {Float("min", -kInfinity), Float("max", kInfinity)});
  add(Op::kCast, Domain::kAny, {Required("to", AttributeKind::kString)}, InferCast);
}

void AddBroadcasting(std::vector<OpSpec>& rows) {
  const auto add = [&](Op op, Domain domain, InferTypes infer,
                       std::vector<AttributeSpec> attributes = {}) {
    rows.push_back({op, 2, 2, domain, std::move(attributes), infer});
  };
  for (const Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kPow, Op::kMin, Op::kMax})
    add(op, Domain::kNumber, InferBinary);
  add(Op::kMod, Domain::kNumber, InferBinary, {Int("fmod", 0)});
  for (const Op op : {Op::kAnd, Op::kOr, Op::kXor}) add(op, Domain::kBits, InferBinary);
  for (const Op op : {Op::kShl, Op::kShr}) add(op, Domain::kInteger, InferBinary);
  for (const Op op : {Op::kEq, Op::kNe}) add(op, Domain::kAny, InferComparison);
  for (const Op op : {Op::kLt, Op::kLe, Op::kGt, Op::kGe})
    add(op, Domain::kNumber, InferComparison);
  add(Op::kPrelu, Domain::kNumber, InferPrelu);
  rows.push_back({Op::kWhere, 3, 3, Domain::kAny, {}, InferWhere});
}

void AddContractions(std::vector<OpSpec>& rows) {
  rows.push_back({Op::kMatmul,
                  2,
                  2,
                  Domain::kNumber,
                  {Int("transpose_a", 0), Int("transpose_b", 0)},
                  InferMatmul});
  rows.push_back({Op::kConv,
                  2,
                  3,
                  Domain::kNumber,
                  {Derived("strides"), Derived("pads"), Derived("dilations"), Int("group", 1)},
                  InferConv});
  rows.push_back({Op::kConvTranspose,
                  2,
                  3,
                  Domain::kNumber,
                  {Derived("strides"), Derived("pads"), Derived("dilations"), Int("group", 1),
                   Derived("output_padding")},
                  InferConvTranspose});
  rows.push_back(
      {Op::kAttention,
       3,
       4,
       Domain::kAny,
       {Derived("scale", AttributeKind::kFloat), Float("softcap", 0), Int("causal", 0),
        Int("causal_offset", 0), Float("hidden", -kInfinity), String("empty_rows", "nan")},
       InferAttention});
}

void AddReductions(std::vector<OpSpec>& rows) {
  for (const Op op : {Op::kReduceSum, Op::kReduceMean, Op::kReduceMax, Op::kReduceMin,
                      Op::kReduceProd, Op::kReduceL1, Op::kReduceL2, Op::kReduceSumSquare})
    rows.push_back(
        {op, 1, 1, Domain::kNumber, {Derived("axes"), Int("keepdims", 1)}, InferReduction});
  rows.push_back({Op::kReduceLogSumExp,
                  1,
                  1,
                  Domain::kFloat,
                  {Derived("axes"), Int("keepdims", 1)},
                  InferReduction});
  for (const Op op : {Op::kArgMax, Op::kArgMin})
    rows.push_back({op,
                    1,
                    1,
                    Domain::kNumber,
                    {Int("axis", 0), Int("keepdims", 1), Int("select_last_index", 0)},
                    InferArg});
  rows.push_back({Op::kMaxPool,
                  1,
                  1,
                  Domain::kNumber,
                  {Required("kernel"), Derived("strides"), Derived("pads"), Derived("dilations")},
                  InferPool});
  rows.push_back({Op::kAveragePool,
                  1,
                  1,
                  Domain::kFloat,
                  {Required("kernel"), Derived("strides"), Derived("pads"), Derived("dilations"),
                   Int("count_include_pad", 0)},
                  InferPool});
  rows.push_back({Op::kCumSum,
                  1,
                  1,
                  Domain::kNumber,
                  {Required("axis", AttributeKind::kInt), Int("exclusive", 0), Int("reverse", 0)},
                  InferAlongAxis});
}

void AddNormalisations(std::vector<OpSpec>& rows) {
  const AttributeSpec epsilon = Float("epsilon", 1e-5);
  rows.push_back({Op::kBatchNorm, 5, 5, Domain::kFloat, {epsilon}, InferChannelNorm});
  rows.push_back({Op::kInstanceNorm, 3, 3, Domain::kFloat, {epsilon}, InferChannelNorm});
  rows.push_back({Op::kGroupNorm,
                  3,
                  3,
                  Domain::kFloat,
                  {Required("groups", AttributeKind::kInt), epsilon},
                  InferGroupNorm});
  rows.push_back({Op::kLayerNorm, 2, 3, Domain::kFloat, {Int("axis", -1), epsilon}, InferAxisNorm});
  rows.push_back({Op::kRmsNorm, 2, 2, Domain::kFloat, {Int("axis", -1), epsilon}, InferAxisNorm});
  rows.push_back({Op::kLrn,
                  1,
                  1,
                  Domain::kFloat,
                  {Required("size", AttributeKind::kInt), Float("alpha", 1e-4), Float("beta", 0.75),
                   Float("bias", 1)},
                  InferLrn});
  for (const Op op : {Op::kSoftmax, Op::kLogSoftmax})
    rows.push_back({op, 1, 1, Domain::kFloat, {Int("axis", -1)}, InferAlongAxis});
}

void AddMovement(std::vector<OpSpec>& rows) {
  const auto add = [&](Op op, int inputs, std::vector<AttributeSpec> attributes, InferTypes infer) {
    rows.push_back({op, inputs, inputs, Domain::kAny, std::move(attributes), infer});
  };
  add(Op::kTranspose, 1, {Derived("perm")}, InferTranspose);
  add(Op::kReshape, 1, {Required("shape")}, InferReshape);
  add(Op::kExpand, 1, {Required("shape")}, InferExpand);
  add(Op::kSlice, 1, {Required("starts"), Required("ends"), Derived("steps")}, InferSlice);
  rows.push_back({Op::kConcat,
                  1,
                  kAnyNumber,
                  Domain::kAny,
                  {Required("axis", AttributeKind::kInt)},
                  InferConcat});
  add(Op::kPad, 1, {Required("pads"), Float("value", 0), String("mode", "constant")}, InferPad);
  add(Op::kTile, 1, {Required("repeats")}, InferTile);
  add(Op::kGather, 2, {Int("axis", 0)}, InferGather);
  add(Op::kGatherElements, 2, {Int("axis", 0)}, InferGatherElements);
  rows.push_back(
      {Op::kResize,
       1,
       1,
       Domain::kNumber,
       {Derived("shape"), Derived("scales", AttributeKind::kFloats), String("mode", "nearest"),
        String("coordinate", "half_pixel"), String("nearest_mode", "round_prefer_floor"),
        Float("cubic_a", -0.75), Int("exclude_outside", 0)},
       InferResize});
  add(Op::kRange, 0,
      {Required("start", AttributeKind::kFloat), Required("limit", AttributeKind::kFloat),
       Required("delta", AttributeKind::kFloat), Required("to", AttributeKind::kString)},
      InferRange);
  rows.push_back(
      {Op::kRotaryEmbedding, 3, 3, Domain::kFloat, {Int("interleaved", 0)}, InferRotaryEmbedding});
  rows.push_back({Op::kOneHot,
                  1,
                  1,
                  Domain::kNumber,
                  {Required("depth", AttributeKind::kInt), Int("axis", -1), Float("on_value", 1),
                   Float("off_value", 0), String("to", "f32")},
                  InferOneHot});
}

void AddControlAndMemory(std::vector<OpSpec>& rows) {
  rows.push_back({Op::kIf, 1, kAnyNumber, Domain::kAny, {}, InferIf});
  rows.push_back({Op::kWhile, 1, kAnyNumber, Domain::kAny, {}, InferWhile});
  rows.push_back({Op::kScan,
                  1,
                  kAnyNumber,
                  Domain::kAny,
                  {Required("states", AttributeKind::kInt)},
                  InferScan});
  rows.push_back({Op::kCopy, 1, 1, Domain::kAny, {}, InferUnary});
  rows.push_back({Op::kAlloc,
                  0,
                  0,
                  Domain::kAny,
                  {Required("shape"), Required("type", AttributeKind::kString)},
                  InferAlloc});
  rows.push_back({Op::kFree, 1, 1, Domain::kAny, {}, InferFree});
  rows.push_back({Op::kToDevice,
                  1,
                  1,
                  Domain::kAny,
                  {Required("device", AttributeKind::kString)},
                  InferUnary});
}

/// Rows in the order of the enumerators.
std::vector<OpSpec> MakeTable() {
  std::vector<OpSpec> rows;
  AddData(rows);
  AddUnary(rows);
  AddBroadcasting(rows);
  AddContractions(rows);
  AddReductions(rows);
  AddNormalisations(rows);
  AddMovement(rows);
  AddControlAndMemory(rows);
  constexpr Op kAll[] = {
#define TUNEC_ID(id, name, kind, pattern) Op::id,
      TUNEC_OPS(TUNEC_ID)
#undef TUNEC_ID
  };
  std::vector<OpSpec> table(std::size(kAll));
  std::vector<int> seen(std::size(kAll), 0);
  for (OpSpec& row : rows) {
    const auto i = static_cast<size_t>(row.op);
    seen[i]++;
    table[i] = std::move(row);
  }
  for (const Op op : kAll)
    TUNEC_CHECK(seen[static_cast<size_t>(op)] == 1, "operator {} has {} rows in the table",
                Name(op), seen[static_cast<size_t>(op)]);
  return table;
}

}  // namespace

const OpSpec& SpecOf(Op op) {
  static const std::vector<OpSpec> table = MakeTable();
  return table[static_cast<size_t>(op)];
}

const AttributeSpec* FindAttribute(Op op, std::string_view name) {
  for (const AttributeSpec& spec : SpecOf(op).attributes)
    if (spec.name == name) return &spec;
  return nullptr;
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
  }
  TUNEC_UNREACHABLE("attribute kind {}", static_cast<int>(kind));
}

AttributeKind KindOf(const Attribute& attribute) {
  return static_cast<AttributeKind>(attribute.index());
}

bool Contains(Domain domain, DataType type) {
  switch (domain) {
    case Domain::kAny:
      return true;
    case Domain::kNumber:
      return type != DataType::kBool;
    case Domain::kFloat:
      return IsFloat(type);
    case Domain::kBits:
      return !IsFloat(type);
    case Domain::kInteger:
      return IsInteger(type);
  }
  TUNEC_UNREACHABLE("domain {}", static_cast<int>(domain));
}

std::string_view Name(Domain domain) {
  switch (domain) {
    case Domain::kAny:
      return "any type";
    case Domain::kNumber:
      return "a number type";
    case Domain::kFloat:
      return "a float type";
    case Domain::kBits:
      return "an integer type or bool";
    case Domain::kInteger:
      return "an integer type";
  }
  TUNEC_UNREACHABLE("domain {}", static_cast<int>(domain));
}

}  // namespace tunec
