#include "ir/loop_nest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/interpret/interpret.h"
#include "support/random.h"
#include "tests/ir/nests.h"
#include "tests/programs/text_forms.h"

namespace tunec {
namespace {

LoopNest MustParse(std::string_view text) {
  auto nest = ParseLoopNest(text, "n.txt");
  EXPECT_TRUE(nest.has_value()) << nest.error().Format();
  return nest.value_or(LoopNest{});
}

Array RandomArray(std::vector<int64_t> shape, uint64_t seed) {
  Array array(DataType::kF32, std::move(shape));
  Random random(seed);
  for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, random.Unit() * 2 - 1);
  return array;
}

TEST(LoopNestText, CanonicalTextsPrintAsWritten) {
  for (const auto& [name, text] : test::kNests) {
    const LoopNest nest = MustParse(text);
    EXPECT_EQ(Print(nest), text) << name;
    const Status status = Verify(nest);
    EXPECT_TRUE(status) << name << ": " << status.error().message;
  }
}

TEST(LoopNestText, RejectsWithAPlace) {
  const auto error = [](std::string_view text) {
    const auto nest = ParseLoopNest(text, "n.txt");
    return nest ? "" : nest.error().Format();
  };
  EXPECT_EQ(error("nest x {\n  loop"),
            "n.txt:2:3: error: expected 'phase', a tensor's role or '}', found 'loop'");
  EXPECT_EQ(error("nest x {\n  phase p {\n    for i in 0 .. 4 {\n      for i in 0 .. 4 {"),
            "n.txt:4:11: error: a loop around this one has the variable i too");
  EXPECT_EQ(error("nest x {\n  phase p {\n    for i in 0 4 {"),
            "n.txt:3:16: error: expected '..', found '4'");
  EXPECT_EQ(error("nest x {\n  local t: f32[]\n  phase p {\n    alloc t: heap {"),
            "n.txt:4:14: error: expected a scope: global, packed, shared, register, tile, "
            "fragment, found 'heap'");
  EXPECT_EQ(error("nest x {\n  phase p {\n    for i in 0 .. 4 {"),
            "n.txt:3:22: error: expected '}', found the end of the text");
  EXPECT_FALSE(error("nest x { phase p " + std::string(100000, '{')).empty());
}

TEST(LoopNestText, SurvivesDamage) {
  for (const auto& [name, text] : test::kNests) {
    std::string damaged(text);
    for (size_t i = 0; i < text.size(); ++i) {
      for (const char c : {'[', '-', '9', '}', '"'}) {
        damaged[i] = c;
        if (const auto nest = ParseLoopNest(damaged, "n")) (void)Verify(*nest);
      }
      damaged[i] = text[i];
    }
  }
}

TEST(LoopNest, InterpretsLikeItsCompute) {
  const Array a = RandomArray({37, 29}, 1);
  const Array b = RandomArray({29, 13}, 2);
  const std::vector<Array> arguments = {a, b};
  const auto compute = *ParseCompute(test::kAlignedMatmul, "c");
  LoopNest nest = MustParse(test::kTiledMatmul);
  const auto wide = *Interpret(compute, arguments, Precision::kFloat64);
  const auto expected = *Interpret(compute, arguments, Precision::kNative);
  const auto fused = *Interpret(nest, arguments, Precision::kNative);
  nest.contraction = Contraction::kSeparate;
  const auto separate = *Interpret(nest, arguments, Precision::kNative);
  bool contraction_shows = false;
  for (int64_t i = 0; i < fused[0].size(); ++i) {
    // The nest and the Compute add in the order of k, so separate rounding gives identical bits.
    ASSERT_EQ(separate[0].GetDouble(i), expected[0].GetDouble(i));
    ASSERT_NEAR(fused[0].GetDouble(i), wide[0].GetDouble(i), 1e-5);
    contraction_shows |= fused[0].GetDouble(i) != expected[0].GetDouble(i);
  }
  EXPECT_TRUE(contraction_shows);
}

TEST(LoopNest, InterpretsCopiesAndReducers) {
  const Array a = RandomArray({16, 16}, 3);
  const std::vector<Array> arguments = {a};
  const auto c = *Interpret(MustParse(test::kEverything), arguments, Precision::kFloat64);
  double sum = 0;
  for (int64_t j = 0; j < 16; ++j) sum += 2 * a.GetDouble(5 * 16 + j);
  EXPECT_NEAR(c[0].GetDouble(5 * 16 + 3), sum - a.GetDouble(5 * 16 + 3), 1e-12);
}

TEST(LoopNest, LocalStorageIsFreshInEachAlloc) {
  const auto nest = MustParse(R"(nest n {
    output C: f32[4]
    local t: f32[2]
    phase p {
      for i in 0 .. 4 {
        alloc t: packed {
          if (-i >= 0) {
            a: t[1] = 1.0
          }
          b: C[i] = t[1]
        }
      }
    }
  })");
  EXPECT_EQ(Interpret(nest, {}, Precision::kNative).error().message,
            "b: read of t[1], which nothing wrote");
}

TEST(LoopNest, ReportsWhatItCannotRun) {
  const std::vector<Array> arguments = {RandomArray({16}, 1)};
  EXPECT_EQ(Interpret(MustParse(test::kSpecialized), arguments, Precision::kNative).error().code,
            ErrorCode::kUnsupported);
}

TEST(LoopNest, CountsTasks) {
  const LoopNest nest = MustParse(test::kTiledMatmul);
  EXPECT_EQ(CountTasks(nest.phases[0]), 2);
  EXPECT_EQ(CountTasks(nest.phases[1]), 14);
  const LoopNest parts = MustParse(R"(nest n {
    output C: f32[16]
    phase p {
      a: C[0] = 0.0
      parallel for i in 1 .. 6 {
        b: C[i] = 0.0
        for j in 0 .. 1 {
          c: C[i] = 0.0
        }
      }
    }
  })");
  EXPECT_EQ(CountTasks(parts.phases[0]), 1 + 5);
  EXPECT_EQ(CountWaves(parts.phases[0]), 1);
  const LoopNest waves = MustParse(R"(nest n {
    output C: f32[16]
    phase p {
      wave for t in 0 .. 3 {
        parallel for i in 1 .. 6 {
          b: C[i + t] = 0.0
        }
      }
    }
  })");
  EXPECT_EQ(CountTasks(waves.phases[0]), 3 * 5);
  EXPECT_EQ(CountWaves(waves.phases[0]), 3);
}

TEST(LoopNest, PartsAreLaunchedOneAfterTheOther) {
  const LoopNest parts = MustParse(R"(nest n {
    input A: f32[64]
    output C: f32[64]
    phase p {
      grid.y for a in 0 .. 3 {
        grid.x for b in 0 .. 4 {
          block.x for x in 0 .. 2 {
            s: C[8*a + 2*b + x] = A[x]
          }
        }
      }
      grid.x for c in 0 .. 2 {
        block.x for y in 0 .. 5 {
          t: C[5*c + y + 24] = A[y]
        }
      }
      u: C[63] = A[0]
    }
    phase q {
      grid.x for d in 0 .. 6 {
        v: C[d] = C[d] + 1.0
      }
    }
  })");
  const Launch launch = LaunchOf(parts.phases[0]);
  EXPECT_EQ(launch.grid, (std::array<int64_t, 3>{12 + 2 + 1, 1, 1}));
  EXPECT_EQ(launch.block, (std::array<int64_t, 3>{5, 1, 1}));
  EXPECT_EQ(LaunchOf(parts.phases[1]).grid, (std::array<int64_t, 3>{6, 1, 1}));
}

TEST(LoopNest, PlansStorage) {
  const LoopNest nest = MustParse(R"(nest n {
    input A: f32[4]
    output C: f32[4]
    workspace early: f32[20]
    workspace middle: f32[10]
    workspace late: f32[16]
    local outer: f32[3]
    local inner: f32[2, 17]
    local sibling: f32[2]
    local lane: f32[8]
    phase p {
      a: early[0] = A[0]
      b: middle[0] = early[0]
    }
    phase q {
      c: late[0] = middle[0]
      alloc outer: packed {
        d: outer[0] = late[0]
        alloc inner: packed stages 2 {
          e: inner[1, 0] = outer[0]
        }
        alloc sibling: packed {
          alloc lane: register {
            f: sibling[0] = outer[0]
          }
        }
      }
      g: C[0] = late[0]
    }
  })");
  const StoragePlan plan = PlanStorage(nest);
  // `early` and `late` share bytes, because they are used in different phases. `middle` is used in
  // both.
  EXPECT_EQ(plan.offset, (IdVector<TensorId, int64_t>{-1, -1, 0, 128, 0, 0, 64, 64, -1}));
  EXPECT_EQ(plan.workspace_bytes, 192);
  EXPECT_EQ(plan.scratch_bytes, 64 + 192);
  EXPECT_EQ(plan.shared_bytes, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(Arguments(nest), (std::vector{TensorId(0), TensorId(1)}));
}

TEST(LoopNest, SharedStorageIsPlannedApartAndOfEachPhase) {
  const LoopNest nest = MustParse(R"(nest n {
    input A: f32[4]
    output C: f32[4]
    local own: f32[20]
    local tile: f32[17]
    local edge: f32[3]
    local last: f32[2]
    phase p {
      alloc own: packed {
        alloc tile: shared {
          alloc edge: shared {
            a: edge[0] = A[0]
            b: tile[0] = edge[0]
            c: own[0] = tile[0]
          }
        }
        d: C[0] = own[0]
      }
    }
    phase q {
      alloc last: shared {
        e: last[0] = A[1]
        f: C[1] = last[0]
      }
    }
  })");
  const StoragePlan plan = PlanStorage(nest);
  EXPECT_EQ(plan.offset, (IdVector<TensorId, int64_t>{-1, -1, 0, 0, 128, 0}));
  EXPECT_EQ(plan.scope,
            (IdVector<TensorId, Scope>{Scope::kGlobal, Scope::kGlobal, Scope::kPacked,
                                       Scope::kShared, Scope::kShared, Scope::kShared}));
  EXPECT_EQ(plan.scratch_bytes, 128);
  EXPECT_EQ(plan.shared_bytes, (std::vector<int64_t>{256, 128}));
}

TEST(LoopNest, StorageThatIsAllocatedTwiceHasOnePlace) {
  const LoopNest nest = MustParse(R"(nest n {
    input A: f32[4]
    output C: f32[4]
    local twice: f32[20]
    local inner: f32[3]
    local outer: f32[17]
    phase p {
      alloc twice: packed {
        alloc inner: packed {
          a: inner[0] = A[0]
          b: twice[0] = inner[0]
          c: C[0] = twice[0]
        }
      }
      alloc outer: packed {
        alloc twice: packed {
          d: outer[0] = A[1]
          e: twice[0] = outer[0]
          f: C[1] = twice[0]
        }
      }
    }
  })");
  const StoragePlan plan = PlanStorage(nest);
  // `outer` with its padding ends at byte 128, so the second `twice` begins there. The first one
  // has the same offset.
  EXPECT_EQ(plan.offset, (IdVector<TensorId, int64_t>{-1, -1, 128, 256, 0}));
  EXPECT_EQ(plan.scratch_bytes, 320);
}

TEST(LoopNest, CountsMultiplyAdds) {
  const MultiplyAdds counted = CountMultiplyAdds(MustParse(test::kTiledMatmul));
  EXPECT_EQ(counted.total, 7.0 * 6 * 2 * 8 * 29);
  EXPECT_EQ(counted.vector, counted.total);
  const MultiplyAdds ragged = CountMultiplyAdds(MustParse(R"(nest n {
    input A: f32[100]
    output C: f32[1]
    phase p {
      z: C[0] = 0.0
      for io in 0 .. 4 {
        for i in 32*io .. min(32*io + 32, 100) {
          s: C[0] sum= A[i] * A[i]
        }
      }
    }
  })"));
  EXPECT_EQ(ragged.total, 100);
  EXPECT_EQ(ragged.vector, 0);
}

}  // namespace
}  // namespace tunec
