// Reduction of the angles of sin, cos and tan: x = quadrant * pi/2 + rest. Near zero, the quadrant
// is x * 2/pi rounded. Fused multiply-adds then subtract quadrant * pi/2, with pi/2 as three parts.
// Far from zero, the code follows Payne and Hanek, "Radian reduction for trigonometric functions",
// 1983: |x| = m * 2^e with an integer m of 53 bits. Upper bits of 2/pi do not matter if their
// product with m * 2^e is a multiple of 4 quadrants. Bits far below the precision of the rest do
// not matter either. 192 bits remain. The product of these bits with m, modulo 2^192, has the
// quadrant in its upper bits. The lower bits are the rest, within 2^-119 quadrants.
#include <array>

#include "jit/math/math.h"

namespace tunec::jit {
namespace {

constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");
constexpr double kTwoOverPi = 0.63661977236758134308;
// Three parts whose sum is approximately pi/2.
constexpr double kHalfPi1 = 1.5707963267948965580e+00;
constexpr double kHalfPi2 = 6.1232339957367660359e-17;
constexpr double kHalfPi3 = -1.4973849048591833e-33;

// Limit of the near reduction. Below kFar a wrongly rounded quadrant leaves a rest of at most pi/4
// + 2^-13, and the error of the three parts is far below the error of the rest.
constexpr double kFar = 0x1p40;

// Words of floor(2/pi * 2^kFractionBits), lowest first, with zeros above.
constexpr int64_t kFractionBits = 1168;
constexpr std::array<uint64_t, 19> kTwoOverPiBits = {
    0x5fb11f8d5d085603, 0x39f78a5292ea6bfb, 0xbac7ebe5f17b3d07, 0x3f669e5fea2d7527,
    0x7ecf27cb09b74f46, 0x118b5a0a6d1f6d36, 0x97ffde05980fef2f, 0x5f8bbdf9283b1ff8,
    0xd639835339f49c84, 0x7026b45f7e413991, 0x35f52ebb4484e99c, 0xeb1cb129a73ee882,
    0x2eea09d1921cfe1d, 0x6e3a424dd2e00649, 0x63abdebbc561b724, 0x95993c439041fe51,
    0x57d1f534ddc0db62, 0x836e4e441529fc27, 0x000000000000a2f9};

Angle ReduceNear(Builder& b, IrValue x) {
  const double magic = 6755399441055744.0;  // the low bits of x + magic are the integer
  const IrValue shifted = b.Fma(x, b.Like(x, kTwoOverPi), b.Like(x, magic));
  const IrValue n = b.FNeg(b.FSub(shifted, b.Like(x, magic)));
  IrValue rest = b.Fma(n, b.Like(x, kHalfPi1), x);
  rest = b.Fma(n, b.Like(x, kHalfPi2), rest);
  rest = b.Fma(n, b.Like(x, kHalfPi3), rest);
  return {rest, b.Bitcast(shifted, Element::kI64)};
}

/// A number below 2^128, in two words.
struct WideNumber {
  IrValue high;
  IrValue low;
};

/// Emits the angle m * 2^e in quadrants, modulo 4, times 2^126. e must be at least -12.
WideNumber Quadrants(Builder& b, IrValue m, IrValue e) {
  static const IrType kWord{Element::kI64, 1};
  std::array<int64_t, kTwoOverPiBits.size()> words{};
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<int64_t>(kTwoOverPiBits[i]);
  const IrValue table = b.SafeConstant(b.IntVector(Element::kI64, words));
  // The required bits of the table begin at bit `begin_bit`. Loads begin at a whole byte, the first
  // one at or after this bit, so the product is shifted to the left by `spare` bits.
  const IrValue begin_bit = b.Sub(b.I64(kFractionBits - 190), e);
  const IrValue first = b.And(b.Add(begin_bit, b.I64(7)), b.I64(-8));
  const IrValue spare = b.Sub(first, begin_bit);
  const IrValue at = b.Offset(table, b.LShr(first, b.I64(3)));
  const IrValue word0 = b.Load(kWord, at, 1);
  const IrValue word1 = b.Load(kWord, b.Offset(at, b.I64(8)), 1);
  const IrValue word2 = b.Load(kWord, b.Offset(at, b.I64(16)), 1);
  const IrValue carried = b.MultiplyHigh(m, word0);
  const IrValue low = b.Add(carried, b.Mul(m, word1));
  const IrValue carry = b.ZeroExtend(b.Cmp(Compare::kUlt, low, carried), Element::kI64);
  const IrValue high = b.Add(b.Add(b.MultiplyHigh(m, word1), b.Mul(m, word2)), carry);
  const IrValue moved = b.LShr(b.LShr(low, b.I64(1)), b.Sub(b.I64(63), spare));
  return {b.Or(b.Shl(high, spare), moved), b.Shl(low, spare)};
}

/// Returns the reduced angle of one number. The result is undefined if |x| is less than kFar.
Angle ReduceFar(Builder& b, IrValue x) {
  const IrValue bits = b.Bitcast(x, Element::kI64);
  const IrValue exponent = b.And(b.LShr(bits, b.I64(52)), b.I64(0x7ff));
  const IrValue implicit = b.I64(int64_t{1} << 52);
  const IrValue m = b.Or(b.And(bits, b.Sub(implicit, b.I64(1))), implicit);
  const IrValue e = b.SMax(b.Sub(exponent, b.I64(1075)), b.I64(-12));
  const WideNumber wide = Quadrants(b, m, e);
  IrValue quadrant = b.LShr(b.Add(wide.high, b.I64(int64_t{1} << 61)), b.I64(62));
  const IrValue above = b.Sub(wide.high, b.Shl(quadrant, b.I64(62)));  // signed
  const IrValue below = b.SignedToFloat(b.LShr(wide.low, b.I64(1)), Element::kF64);
  const IrValue part = b.Fma(below, b.Like(x, 0x1p-125),
                             b.FMul(b.SignedToFloat(above, Element::kF64), b.Like(x, 0x1p-62)));
  IrValue rest = b.Fma(part, b.Like(x, kHalfPi1), b.FMul(part, b.Like(x, kHalfPi2)));
  const IrValue negative = b.Cmp(Compare::kSlt, bits, b.I64(0));
  rest = b.Select(negative, b.FNeg(rest), rest);
  quadrant = b.Select(negative, b.Sub(b.I64(0), quadrant), quadrant);
  const IrValue finite = b.Cmp(Compare::kFlt, b.FAbs(x), b.Like(x, kInfinity));
  return {b.Select(finite, rest, b.Like(x, kNan)), quadrant};
}

/// Applies ReduceFar to each lane in turn: x86 has no vectors of such products, and code that
/// rarely runs should be short.
Angle ReduceFarLanes(Builder& b, IrValue x) {
  const int lanes = b.LanesOf(x);
  if (lanes == 1) return ReduceFar(b, x);
  const int64_t bytes = int64_t{8} * lanes;
  const IrValue rests = b.ScratchStackBytes(2 * bytes);
  const IrValue quadrants = b.Offset(rests, b.I64(bytes));
  b.Store(x, rests, 8);
  const IrBlock before = b.CurrentBlock();
  const IrBlock loop = b.NewBlock("far_lane");
  b.Branch(loop);
  b.SetBlock(loop);
  const IrValue at = b.Phi({Element::kI64, 1});
  b.AddIncoming(at, b.I64(0), before);
  const IrValue address = b.Offset(rests, at);
  const Angle one = ReduceFar(b, b.Load({Element::kF64, 1}, address, 8));
  b.Store(one.rest, address, 8);
  b.Store(one.quadrant, b.Offset(quadrants, at), 8);
  const IrValue next = b.Add(at, b.I64(8));
  b.AddIncoming(at, next, loop);
  const IrBlock after = b.NewBlock("far_lanes");
  b.CondBranch(b.Cmp(Compare::kUlt, next, b.I64(bytes)), loop, after);
  b.SetBlock(after);
  return {b.Load({Element::kF64, lanes}, rests, 8), b.Load({Element::kI64, lanes}, quadrants, 8)};
}

}  // namespace

Angle ReduceByHalfPi(Builder& b, IrValue x) {
  const Angle near = ReduceNear(b, x);
  const IrValue is_near = b.Cmp(Compare::kFlt, b.FAbs(x), b.Like(x, kFar));
  const IrValue is_far = b.Not(is_near);  // true for NaN, too
  const IrBlock before = b.CurrentBlock();
  const IrBlock far_block = b.NewBlock("far");
  const IrBlock join = b.NewBlock("angle");
  b.RareBranch(b.Any(is_far), far_block, join);
  b.SetBlock(far_block);
  const Angle far = ReduceFarLanes(b, x);
  const Angle mixed{b.Select(is_near, near.rest, far.rest),
                    b.Select(is_near, near.quadrant, far.quadrant)};
  const IrBlock far_end = b.CurrentBlock();
  b.Branch(join);
  b.SetBlock(join);
  Angle angle{b.Phi(b.TypeOf(near.rest)), b.Phi(b.TypeOf(near.quadrant))};
  b.AddIncoming(angle.rest, near.rest, before);
  b.AddIncoming(angle.rest, mixed.rest, far_end);
  b.AddIncoming(angle.quadrant, near.quadrant, before);
  b.AddIncoming(angle.quadrant, mixed.quadrant, far_end);
  return angle;
}

}  // namespace tunec::jit
