#include "jit/scalar_code.h"

#include <algorithm>

namespace tunec::jit {
namespace {

constexpr ScalarCode kCodes[] = {
    {ScalarOp::kAdd, 0, 1},      {ScalarOp::kSub, 0, 1},
    {ScalarOp::kMul, 0, 1},      {ScalarOp::kDiv, 0, 1},
    {ScalarOp::kFloorMod, 0, 1}, {ScalarOp::kTruncMod, 0, 1},
    {ScalarOp::kPow, 1, 60},     {ScalarOp::kMin, 0, 1},
    {ScalarOp::kMax, 0, 1},      {ScalarOp::kAnd, 0, 1},
    {ScalarOp::kOr, 0, 1},       {ScalarOp::kXor, 0, 1},
    {ScalarOp::kShl, 0, 1},      {ScalarOp::kShr, 0, 1},
    {ScalarOp::kEq, 0, 1},       {ScalarOp::kNe, 0, 1},
    {ScalarOp::kLt, 0, 1},       {ScalarOp::kLe, 0, 1},
    {ScalarOp::kNeg, 0, 1},      {ScalarOp::kAbs, 0, 1},
    {ScalarOp::kSign, 0, 1},     {ScalarOp::kNot, 0, 1},
    {ScalarOp::kExp, 1, 16},     {ScalarOp::kExpm1, 2, 20},
    {ScalarOp::kLog, 2, 16},     {ScalarOp::kLog1p, 3, 24},
    {ScalarOp::kLog2, 3, 18},    {ScalarOp::kLog10, 1, 24},
    {ScalarOp::kSqrt, 0, 1},     {ScalarOp::kRsqrt, 1.5, 1},  // a square root and a division
    {ScalarOp::kTanh, 4.6, 16},  {ScalarOp::kErf, 5.2, 16},
    {ScalarOp::kGelu, 5, 36},    {ScalarOp::kGeluTanh, 3, 36},
    {ScalarOp::kSilu, 3, 24},    {ScalarOp::kMish, 4, 30},
    {ScalarOp::kSin, 1, 60},     {ScalarOp::kCos, 1, 60},
    {ScalarOp::kTan, 1, 60},     {ScalarOp::kAsin, 1, 1},
    {ScalarOp::kAcos, 1, 1},     {ScalarOp::kAtan, 1, 1},
    {ScalarOp::kSinh, 3, 1},     {ScalarOp::kCosh, 3, 1},
    {ScalarOp::kAsinh, 4, 1},    {ScalarOp::kAcosh, 4, 1},
    {ScalarOp::kAtanh, 4, 1},    {ScalarOp::kFloor, 0, 1},
    {ScalarOp::kCeil, 0, 1},     {ScalarOp::kRound, 0, 1},
    {ScalarOp::kTrunc, 0, 1},    {ScalarOp::kIsNan, 0, 1},
    {ScalarOp::kIsInf, 0, 1},    {ScalarOp::kSelect, 0, 1},
    {ScalarOp::kFma, 0, 1},
};

constexpr bool IsInOrder() {
  constexpr ScalarOp kAll[] = {
#define TUNEC_ID(id, ...) ScalarOp::id,
      TUNEC_SCALAR_OPS(TUNEC_ID)
#undef TUNEC_ID
  };
  return std::ranges::equal(kCodes, kAll, {}, &ScalarCode::op);
}
static_assert(IsInOrder(), "a scalar operator has no row, or not in the order of scalar_op.h");

}  // namespace

const ScalarCode& CodeOf(ScalarOp op) { return kCodes[static_cast<size_t>(op)]; }

}  // namespace tunec::jit
