// Tests of the keys of code for dynamic-shape runs, and of rounded sizes.
#include "runtime/sized/sized_form.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/size/compile_size.h"

namespace tunec {
namespace {

SizeProgram SizeOf(size_t dimension) {
  return SizeProgram::FromSteps({{SizeProgram::Kind::kSize, static_cast<int64_t>(dimension)}},
                                dimension + 1)
      .value();
}

/// Returns the form of a model with an input x: f32[d0, d1, ...] and an output y of the same shape.
SizedForm FormOf(const std::vector<ListedSizes>& listed, const std::vector<bool>& separable) {
  SizedForm form;
  const size_t count = listed.size();
  form.inputs = {{"x", DataType::kF32, std::vector<int64_t>(count, -1)}};
  form.outputs = {{"y", DataType::kF32, std::vector<int64_t>(count, -1)}};
  form.output_extents.emplace(1);
  for (size_t d = 0; d < count; ++d) {
    form.dimensions.push_back(fmt::format("d{}", d));
    form.open.push_back({0, static_cast<int>(d), static_cast<int>(d)});
    (*form.output_extents)[0].push_back({SizeOf(d)});
  }
  form.separable = separable;
  form.listed = listed;
  return form;
}

TEST(KeyFor, ListedSizesHaveTheirOwn) {
  const SizedForm form = FormOf({{.sizes = {4, 8}}, {.sizes = {16, 24}}}, {false, false});
  EXPECT_EQ(KeyFor(form, {8, 16}), ExactKey({8, 16}));
  EXPECT_EQ(KeyFor(form, {8, 15}), (SizedKey{{8, 16}, {true, true}}));
  EXPECT_EQ(KeyFor(form, {3, 24}), (SizedKey{{4, 24}, {true, true}}));
}

TEST(KeyFor, WhatIsCutIsNotOpenedWithOthers) {
  const SizedForm form = FormOf({{.sizes = {4, 8}}, {.sizes = {16}}}, {true, false});
  EXPECT_EQ(KeyFor(form, {8, 15}), (SizedKey{{8, 16}, {false, true}}));
  EXPECT_EQ(KeyFor(form, {3, 16}), (SizedKey{{4, 16}, {true, false}}));
}

TEST(KeyFor, SizesOfARangeAreRoundedUp) {
  const SizedForm form = FormOf({{.sizes = RoundedSizes(16, 100), .exact = false}}, {false});
  EXPECT_EQ(KeyFor(form, {1}), (SizedKey{{16}, {true}}));
  EXPECT_EQ(KeyFor(form, {20}), (SizedKey{{23}, {true}}));
  EXPECT_EQ(KeyFor(form, {97}), (SizedKey{{100}, {true}}));
}

TEST(KeyFor, WithoutExtentsOfOutputsIsExact) {
  SizedForm form = FormOf({{.sizes = {4, 8}}}, {false});
  form.output_extents.reset();
  EXPECT_EQ(KeyFor(form, {5}), ExactKey({5}));
}

TEST(KeyFor, IsExactWhereAConditionIsFalse) {
  SizedForm form = FormOf({{.sizes = {48}, .exact = false}}, {false});
  const SizeExpr size = SizeExpr::Named("d0");
  form.conditions = {
      *CompileCondition({SizeCondition::Kind::kEqual, SizeExpr::Mod(size, 2), 0}, form.dimensions)};
  EXPECT_EQ(KeyFor(form, {20}), (SizedKey{{48}, {true}}));
  EXPECT_EQ(KeyFor(form, {21}), ExactKey({21}));
}

TEST(KeyFor, SizesAreRoundedUpToMultiplesOfTheStep) {
  const SizedForm form = FormOf({{.step = 32}}, {false});
  EXPECT_EQ(KeyFor(form, {32}), (SizedKey{{32}, {true}}));
  EXPECT_EQ(KeyFor(form, {96}), (SizedKey{{96}, {true}}));
  EXPECT_EQ(KeyFor(form, {160}), (SizedKey{{160}, {true}}));
  EXPECT_EQ(KeyFor(form, {130}), (SizedKey{{160}, {true}}));
  EXPECT_EQ(KeyFor(form, {3}), (SizedKey{{32}, {true}}));
}

TEST(RoundedSizes, CoverTheRange) {
  EXPECT_EQ(RoundedSizes(32, 100, 32), (Sizes{32, 64, 96}));
  EXPECT_EQ(RoundedSizes(16, 512).size(), 21U);
  EXPECT_EQ(RoundedSizes(7, 9), (Sizes{7, 8, 9}));
  EXPECT_EQ(RoundedSizes(5, 5), (Sizes{5}));
}

// KeysOf returns exactly the keys for sizes up to the largest listed sizes. For a separable
// dimension only the sizes of parts count.
TEST(KeysOf, AreThoseThatRunsTake) {
  const std::vector<std::vector<ListedSizes>> lists = {
      {{.sizes = {1, 4}}, {.sizes = {12, 20}}},
      {{.sizes = {3, 4}}, {.sizes = {2, 5}}},
      {{.sizes = {2}}, {.sizes = RoundedSizes(6, 20), .exact = false}},
      {{.sizes = RoundedSizes(1, 9), .exact = false}, {.sizes = {1, 2, 3, 7}}}};
  for (const auto& listed : lists) {
    for (const std::vector<bool>& separable :
         std::vector<std::vector<bool>>{{false, false}, {true, false}, {false, true}}) {
      const SizedForm form = FormOf(listed, separable);
      const auto keys = KeysOf(form, 256);
      ASSERT_TRUE(keys);
      std::vector<SizedKey> taken;
      for (int64_t a = 1; a <= listed[0].sizes.back(); ++a) {
        for (int64_t b = 1; b <= listed[1].sizes.back(); ++b) {
          // A part's size along a split dimension is a listed size, or less than the least one.
          const auto is_part = [&](size_t d, int64_t size) {
            const Sizes& sizes = listed[d].sizes;
            return !separable[d] || size < sizes[0] || std::ranges::binary_search(sizes, size);
          };
          if (is_part(0, a) && is_part(1, b)) taken.push_back(KeyFor(form, {a, b}));
        }
      }
      std::ranges::sort(taken);
      taken.erase(std::ranges::unique(taken).begin(), taken.end());
      std::vector<SizedKey> sorted = *keys;
      std::ranges::sort(sorted);
      EXPECT_EQ(sorted, taken);
    }
  }
}

TEST(KeysOf, RejectsTooMany) {
  const SizedForm form = FormOf({{.sizes = RoundedSizes(1, 512), .exact = false},
                                 {.sizes = RoundedSizes(1, 512), .exact = false}},
                                {false, false});
  EXPECT_EQ(KeysOf(form, 100).error().code, ErrorCode::kResourceLimit);
}

TEST(SizesOf, AreThoseOfTheShapes) {
  const SizedForm form = FormOf({{.sizes = {4}}, {.sizes = {4}}}, {false, false});
  const std::vector<std::vector<int64_t>> good = {{3, 5}};
  EXPECT_EQ(*SizesOf(form, good), (Sizes{3, 5}));
  for (const std::vector<int64_t>& bad : std::vector<std::vector<int64_t>>{
           {3}, {3, 0}, {3, -1}, {int64_t{1} << 40, int64_t{1} << 40}}) {
    const std::vector<std::vector<int64_t>> shapes = {bad};
    EXPECT_EQ(SizesOf(form, shapes).error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tunec
