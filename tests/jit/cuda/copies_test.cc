// Tests of the GPU code of asynchronous copies: the instructions, equality with the interpreter,
// pending groups, and bank conflicts of swizzled data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/nest/visit_loop_nest.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/cuda_generator.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/emulate/warp_requests.h"
#include "jit/cuda/pending_groups.h"
#include "tests/jit/cuda/run_checked.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a nest that copies rows of A through two stages of shared memory. Each of four threads
// copies a part of a row and uses another thread's part.
std::string Rows(const std::string& type, const std::string& copy, const std::string& align = "16",
                 const std::string& swizzle = "") {
  return R"(
nest rows {
  input A: )" +
         type + R"([5, 32] align )" + align + R"(
  output C: )" +
         type + R"([5, 32]
  local s: )" +
         type + R"([2, 32]
  phase main {
    grid.x for b in 0 .. 1 {
      alloc s: shared stages 2)" +
         swizzle + R"( {
        block.x for x in 0 .. 4 {
          )" +
         copy + R"( -> s[0, 8*x] extent [8]
        }
        arrive 0 stage 0
        for k in 0 .. 5 {
          wait 0 stage k mod 2 parity floor(k/2) mod 2
          barrier
          block.x for z in 0 .. 4 {
            if (3 - k >= 0) {
              async_copy 0 A[k + 1, 8*z] -> s[(k + 1) mod 2, 8*z] extent [8]
            }
          }
          arrive 0 stage (k + 1) mod 2
          block.x for y in 0 .. 4 {
            for i in 0 .. 8 {
              use: C[k, 8*y + i] = s[k mod 2, 31 - 8*y - i]
            }
          }
        }
      }
    }
  }
})";
}

constexpr const char* kFirstRow = "async_copy 0 A[0, 8*x]";

std::string PtxOf(const std::string& text) {
  const LoopNest mapped = *MakeCudaGenerator()->MapThreads(Parse(text));
  const auto ptx =
      MakeCudaGenerator()->Show(mapped, {.device = *CudaAccelerator("sm_80")}, CodeText::kAssembly);
  EXPECT_TRUE(ptx) << ptx.error().message;
  return ptx.value_or("");
}

TEST(AsyncCopies, AreOfSixteenBytesWhereBothEndsAreAligned) {
  for (const char* type : {"f32", "bf16", "f16", "i32", "f64"}) {
    const std::string ptx = PtxOf(Rows(type, kFirstRow));
    EXPECT_THAT(ptx, HasSubstr("cp.async.cg.shared.global")) << type;
    EXPECT_THAT(ptx, HasSubstr("], 16;")) << type;
    EXPECT_THAT(ptx, HasSubstr("cp.async.commit_group")) << type;
    EXPECT_THAT(ptx, HasSubstr("cp.async.wait_group \t0;")) << type;
    EXPECT_THAT(ptx, Not(HasSubstr("cp.async.ca"))) << type;
    ExpectAsInterpreted(Rows(type, kFirstRow));
  }
}

// The PTX also has a second version, for aligned arguments, with copies of 16 bytes.
TEST(AsyncCopies, AreSmallerWhereLessIsKnown) {
  EXPECT_THAT(PtxOf(Rows("f32", kFirstRow, "8")), HasSubstr("], 8;"));
  EXPECT_THAT(PtxOf(Rows("f32", kFirstRow, "4")), HasSubstr("], 4;"));
  EXPECT_THAT(PtxOf(Rows("bf16", kFirstRow, "4")), HasSubstr("], 4;"));
  for (const char* align : {"4", "8"}) {
    ExpectAsInterpreted(Rows("f32", kFirstRow, align));
    ExpectAsInterpreted(Rows("bf16", kFirstRow, align));
  }
}

TEST(AsyncCopies, AreLoadsAndStoresWhereNoInstructionFits) {
  // Copy instructions need an alignment of at least 4 bytes.
  struct Case {
    const char* type;
    const char* align;
    const char* load;
  };
  for (const auto& [type, align, load] : {Case{"bf16", "2", "ld\\.global\\.(nc\\.)?[bu]16"},
                                          Case{"i8", "1", "ld\\.global\\.(nc\\.)?[bsu]8"}}) {
    const std::string text = Rows(type, kFirstRow, align);
    EXPECT_THAT(PtxOf(text), testing::ContainsRegex(load));
    ExpectAsInterpreted(text);
  }
}

TEST(AsyncCopies, FillUpWithZeros) {
  const std::string text = Rows("f32", "async_copy 0 A[0, 8*x] where (1 - x >= 0) else 0.0");
  EXPECT_THAT(PtxOf(text), testing::ContainsRegex(", 16, %r[0-9]+;"));
  ExpectAsInterpreted(text);
  // If the guard's value outside is not 0, no instruction fits, and the copy is a load and a store.
  const std::string ones = Rows("f32", "async_copy 0 A[0, 8*x] where (1 - x >= 0) else 1.0");
  EXPECT_THAT(PtxOf(ones), Not(testing::ContainsRegex(", 16, %r[0-9]+;")));
  ExpectAsInterpreted(ones);
}

TEST(AsyncCopies, OfLocalMemoryAreDoneAtOnce) {
  std::string text = Rows("f32", kFirstRow);
  text.replace(text.find("shared stages"), 6, "packed");
  text.replace(text.find("barrier"), 7, "");
  for (size_t at = 0; (at = text.find("block.x for", at)) != std::string::npos;)
    text.replace(at, 11, "for");
  EXPECT_THAT(PtxOf(text), Not(HasSubstr("cp.async")));
  ExpectAsInterpreted(text);
}

TEST(AsyncCopies, ReachSwizzledStorage) {
  for (const char* swizzle : {" swizzle 8 of 128", " swizzle 4 of 128", " swizzle 2 of 64"})
    for (const char* type : {"f32", "bf16", "f64", "i8"})
      ExpectAsInterpreted(Rows(type, kFirstRow, "16", swizzle));
}

// The loop waits for copies into s, which has two stages, and into t, which has three.
TEST(PendingGroups, AreThoseAfterTheAwaitedOne) {
  const LoopNest nest = Parse(R"(
nest two {
  input A: f32[64]
  output C: f32[64]
  local s: f32[2]
  local t: f32[3]
  phase main {
    grid.x for b in 0 .. 4 {
      alloc s: shared stages 2 {
        alloc t: shared stages 3 {
          async_copy 0 A[16*b] -> s[0] extent []
          arrive 0 stage 0
          for p in 0 .. 2 {
            async_copy 1 A[16*b + p + 8] -> t[p] extent []
            arrive 1 stage p
          }
          for k in 0 .. 6 {
            wait 0 stage k mod 2 parity floor(k/2) mod 2
            if (4 - k >= 0) {
              async_copy 0 A[16*b + k + 1] -> s[(k + 1) mod 2] extent []
            }
            arrive 0 stage (k + 1) mod 2
            wait 1 stage k mod 3 parity floor(k/3) mod 2
            if (3 - k >= 0) {
              async_copy 1 A[16*b + k + 10] -> t[(k + 2) mod 3] extent []
            }
            arrive 1 stage (k + 2) mod 3
            use: C[16*b + k] = s[k mod 2] + t[k mod 3]
          }
        }
      }
    }
  }
})");
  std::vector<int> pending;
  const auto found = PendingGroups(nest);
  ForEach<Wait>(nest, [&](const Wait& wait) { pending.push_back(found.at(&wait)); });
  // The numbers are the least over all iterations. When the loop waits for s, there are two later
  // groups of t at first, and then one. When it waits for t, there are two later groups at first,
  // and then three.
  EXPECT_THAT(pending, ElementsAre(1, 2));
}

TEST(PendingGroups, AreNoneWhereThatIsNotKnown) {
  const LoopNest nest = Parse(R"(
nest unknown {
  input A: f32[64]
  output C: f32[64]
  local s: f32[2]
  phase main {
    grid.x for b in 0 .. 4 {
      alloc s: shared stages 2 {
        async_copy 0 A[b] -> s[0] extent []
        arrive 0 stage 0
        if (2 - b >= 0) {
          arrive 0 stage 1
        }
        wait 0 stage 0 parity 0
        use: C[b] = s[0]
      }
    }
  }
})");
  for (const auto& [wait, groups] : PendingGroups(nest)) EXPECT_EQ(groups, 0);
}

// Returns the counts of a kernel whose threads write rows of 128 bytes in pieces of 16 bytes, and
// read columns.
EmulatedCounts CountsOf(const std::string& swizzle) {
  const CountedRun counted;
  RunChecked(R"(
nest columns {
  input A: f32[8, 32] align 16
  output C: f32[128]
  local s: f32[8, 32]
  phase main {
    grid.x for b in 0 .. 1 {
      alloc s: shared)" +
             swizzle + R"( {
        block.x for x in 0 .. 32 {
          async_copy 0 A[floor(x/8), 4*(x mod 8)] -> s[floor(x/8), 4*(x mod 8)] extent [4]
          async_copy 0 A[floor(x/8) + 4, 4*(x mod 8)] -> s[floor(x/8) + 4, 4*(x mod 8)] extent [4]
        }
        arrive 0 stage 0
        wait 0 stage 0 parity 0
        barrier
        block.x for y in 0 .. 32 {
          vector for i in 0 .. 4 {
            use: C[4*y + i] = s[y mod 8, 4*floor(y/8) + i]
          }
        }
      }
    }
  }
}
)");
  return counted.Of("columns_phase0");
}

TEST(Swizzle, RemovesBankConflicts) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const EmulatedCounts plain = CountsOf("");
  const EmulatedCounts swizzled = CountsOf(" swizzle 8 of 128");
  // Without a swizzle, eight threads at once read 16 bytes each, all from the same four banks.
  EXPECT_EQ(plain.bank_conflicts, 4 * 7);
  EXPECT_EQ(swizzled.bank_conflicts, 0);
  EXPECT_EQ(swizzled.shared_requests, plain.shared_requests);
  EXPECT_EQ(swizzled.global_sectors, plain.global_sectors);
}

}  // namespace
}  // namespace tunec::jit_test
