// Compares the proofs about sizes (ir/size/prove_sizes.h) with isl. isl decides each question about
// quasi-affine expressions.
#include <gtest/gtest.h>
#include <isl/aff.h>
#include <isl/set.h>

#include "ir/size/prove_sizes.h"
#include "ir/size/size_text.h"
#include "polyhedral/isl_handles.h"
#include "tests/ir/random_sizes.h"

namespace tunec {
namespace {

using test::WrittenSize;

using PiecewiseAffine = isl::Handle<isl_pw_aff, isl_pw_aff_copy, isl_pw_aff_free>;

PiecewiseAffine Read(isl_ctx* ctx, const std::string& value) {
  const std::string text = fmt::format("[a, b, c] -> {{ [({})] }}", value);
  return PiecewiseAffine(isl_pw_aff_read_from_str(ctx, text.c_str()));
}

PiecewiseAffine Make(isl_ctx* ctx, const WrittenSize& size) {
  using Kind = WrittenSize::Kind;
  if (size.operands.empty()) return Read(ctx, test::Text(size));
  isl_pw_aff* a = Make(ctx, size.operands[0]).take();
  isl_pw_aff* b = Make(ctx, size.operands[1]).take();
  switch (size.kind) {
    case Kind::kSum:
      return PiecewiseAffine(isl_pw_aff_add(a, b));
    case Kind::kDifference:
      return PiecewiseAffine(isl_pw_aff_sub(a, b));
    case Kind::kProduct:
      return PiecewiseAffine(isl_pw_aff_mul(a, b));
    case Kind::kMin:
      return PiecewiseAffine(isl_pw_aff_min(a, b));
    case Kind::kMax:
      return PiecewiseAffine(isl_pw_aff_max(a, b));
    case Kind::kDivision:
      return PiecewiseAffine(isl_pw_aff_floor(isl_pw_aff_div(a, b)));
    default:
      // a - b * floor(a / b)
      isl_pw_aff* quotient =
          isl_pw_aff_floor(isl_pw_aff_div(isl_pw_aff_copy(a), isl_pw_aff_copy(b)));
      return PiecewiseAffine(isl_pw_aff_sub(a, isl_pw_aff_mul(quotient, b)));
  }
}

TEST(SizeProofs, AgreeWithIsl) {
  isl::Context context;
  int provable = 0;
  int proved = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const WrittenSize a = test::RandomWrittenSize(random, 3, true);
    const WrittenSize b = test::RandomWrittenSize(random, 3, true);
    SizeRanges ranges;
    std::string conditions;
    for (const std::string& name : test::kSizeNames) {
      const int64_t low = test::Between(random, 0, 20);
      ranges[name] = {low, low + test::Between(random, 0, 40)};
      conditions += fmt::format("{} <= {} <= {} and ", low, name, ranges[name].hi);
    }
    const std::string domain = fmt::format("[a, b, c] -> {{ : {}true }}", conditions);
    const isl::Set exceptions(isl_set_intersect(
        isl_set_read_from_str(context.get(), domain.c_str()),
        isl_pw_aff_gt_set(Make(context.get(), a).take(), Make(context.get(), b).take())));
    ASSERT_TRUE(exceptions.ok()) << test::Text(a) << " and " << test::Text(b);
    const bool holds = isl_set_is_empty(exceptions.get()) == isl_bool_true;
    const bool is_proved = ProveAtMost(test::MakeSize(a), test::MakeSize(b), ranges);
    EXPECT_TRUE(holds || !is_proved) << test::Text(a) << " <= " << test::Text(b);
    provable += holds ? 1 : 0;
    proved += is_proved ? 1 : 0;
  }
  EXPECT_GT(provable, 100);
  EXPECT_GE(proved, provable * 9 / 10) << proved << " of " << provable;
}

}  // namespace
}  // namespace tunec
