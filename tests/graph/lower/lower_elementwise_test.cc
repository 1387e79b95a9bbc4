#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

TEST(LowerElementwise, OneOperand) {
  const std::vector<std::pair<Op, Attributes>> cases = {{Op::kIdentity, {}},
                                                        {Op::kNeg, {}},
                                                        {Op::kAbs, {}},
                                                        {Op::kSign, {}},
                                                        {Op::kExp, {}},
                                                        {Op::kExpm1, {}},
                                                        {Op::kTanh, {}},
                                                        {Op::kErf, {}},
                                                        {Op::kSin, {}},
                                                        {Op::kCos, {}},
                                                        {Op::kTan, {}},
                                                        {Op::kAsin, {}},
                                                        {Op::kAcos, {}},
                                                        {Op::kAtan, {}},
                                                        {Op::kSinh, {}},
                                                        {Op::kCosh, {}},
                                                        {Op::kAsinh, {}},
                                                        {Op::kFloor, {}},
                                                        {Op::kCeil, {}},
                                                        {Op::kRound, {}},
                                                        {Op::kRelu, {}},
                                                        {Op::kLeakyRelu, {{"alpha", 0.2}}},
                                                        {Op::kSigmoid, {}},
                                                        {Op::kSilu, {}},
                                                        {Op::kGelu, {}},
                                                        {Op::kGelu, {{"approximate", "tanh"}}},
                                                        {Op::kElu, {{"alpha", 1.5}}},
                                                        {Op::kSelu, {}},
                                                        {Op::kCelu, {{"alpha", 0.5}}},
                                                        {Op::kSoftplus, {}},
                                                        {Op::kSoftsign, {}},
                                                        {Op::kHardSigmoid, {}},
                                                        {Op::kHardSwish, {}},
                                                        {Op::kMish, {}},
                                                        {Op::kThresholdedRelu, {{"alpha", 0.3}}},
                                                        {Op::kClip, {{"min", -0.5}, {"max", 0.25}}},
                                                        {Op::kIsNan, {}},
                                                        {Op::kIsInf, {}},
                                                        {Op::kCast, {{"to", "i32"}}},
                                                        {Op::kCast, {{"to", "f16"}}},
                                                        {Op::kCast, {{"to", "bool"}}},
                                                        {Op::kReciprocal, {}}};
  for (const auto& [op, attributes] : cases) {
    SampleGraph g(std::string(Name(op)));
    const ValueId y = g(op, {g.Input({3, 5})}, attributes);
    ExpectSameAsReference(g.Build({y}));
  }
}

TEST(LowerElementwise, PositiveOperand) {
  for (const Op op :
       {Op::kLog, Op::kLog1p, Op::kLog2, Op::kLog10, Op::kSqrt, Op::kRsqrt, Op::kAcosh}) {
    SampleGraph g(std::string(Name(op)));
    const ValueId x = g(Op::kAdd, {g.Input({3, 5}), g.Scalar(2.5)});
    ExpectSameAsReference(g.Build({g(op, {x})}));
  }
}

TEST(LowerElementwise, TwoOperandsBroadcast) {
  for (const Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMin, Op::kMax, Op::kEq, Op::kNe,
                      Op::kLt, Op::kLe, Op::kGt, Op::kGe, Op::kMod, Op::kPrelu}) {
    SampleGraph g(std::string(Name(op)));
    const ValueId y = g(op, {g.Input({2, 3, 5}), g.Input({3, 1})});
    ExpectSameAsReference(g.Build({y}));
  }
}

TEST(LowerElementwise, IntegersAndBooleans) {
  for (const Op op : {Op::kAdd, Op::kMul, Op::kAnd, Op::kOr, Op::kXor, Op::kShl, Op::kShr}) {
    SampleGraph g(std::string(Name(op)));
    const ValueId y = g(op, {g.Input({4, 5}, DataType::kI32), g.Input({5}, DataType::kI32)});
    ExpectSameAsReference(g.Build({y}), 0);
  }
  SampleGraph g("where");
  const ValueId condition =
      g(Op::kAnd, {g(Op::kNot, {g.Input({4, 5}, DataType::kBool)}), g.Input({5}, DataType::kBool)});
  const ValueId y = g(Op::kWhere, {condition, g.Input({1, 5}), g.Scalar(-2)});
  ExpectSameAsReference(g.Build({y}));
}

TEST(LowerElementwise, ConstantPowers) {
  for (const double exponent : {1.0, 2.0, 3.0, 2.5}) {
    SampleGraph g("pow");
    const ValueId x = g(Op::kAbs, {g.Input({7})});
    ExpectSameAsReference(g.Build({g(Op::kPow, {x, g.Scalar(exponent)})}));
  }
}

TEST(LowerElementwise, HalfTypes) {
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    SampleGraph g("half");
    const ValueId x = g.Input({4, 6}, type);
    const ValueId y = g(Op::kMul, {g(Op::kSigmoid, {x}), g(Op::kAdd, {x, g.Input({6}, type)})});
    ExpectSameAsReference(g.Build({y}), 2e-2);
  }
}

TEST(LowerElementwise, BatchNorm) {
  SampleGraph g("batch_norm");
  const ValueId x = g.Input({2, 3, 4, 5});
  const ValueId variance = g(Op::kAbs, {g.Weight({3})});
  const ValueId y = g(Op::kBatchNorm, {x, g.Weight({3}), g.Weight({3}), g.Weight({3}), variance});
  ExpectSameAsReference(g.Build({y}));
}

// Each x is used twice. Without sharing, the expression would have more than 2^40 nodes.
TEST(LowerElementwise, LongChainsWithReuseStaySmall) {
  SampleGraph g("chain");
  ValueId x = g.Input({4});
  for (int i = 0; i < 40; ++i) x = g(Op::kMul, {x, g(Op::kSigmoid, {x})});
  ExpectSameAsReference(g.Build({x}), 1e-3);
}

}  // namespace
}  // namespace tunec
