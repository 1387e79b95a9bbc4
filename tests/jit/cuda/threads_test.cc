// Tests of the stages that assign work to a GPU's threads and divide private storage among threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/nest/plain_copies.h"
#include "jit/cuda/assign_threads.h"
#include "jit/cuda/cut_private_dimensions.h"
#include "jit/cuda/privatize_threads.h"
#include "tests/ir/small_arguments.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;

LoopNest Parsed(const std::string& text) {
  const auto nest = ParseLoopNest(text, "n");
  EXPECT_TRUE(nest) << nest.error().Format();
  EXPECT_TRUE(Verify(*nest)) << Verify(*nest).error().message;
  return *nest;
}

void ExpectSameResults(const LoopNest& before, const LoopNest& after) {
  ASSERT_TRUE(Verify(after)) << Verify(after).error().message << Print(after);
  const std::vector<Array> arguments = test::SmallArguments(before);
  const auto expected = Interpret(before, arguments, Precision::kNative);
  const auto results = Interpret(after, arguments, Precision::kNative);
  ASSERT_TRUE(expected) << expected.error().message;
  ASSERT_TRUE(results) << results.error().message << Print(after);
  ASSERT_EQ(expected->size(), results->size());
  for (size_t a = 0; a < expected->size(); ++a)
    for (int64_t i = 0; i < (*expected)[a].size(); ++i)
      ASSERT_EQ((*expected)[a].GetDouble(i), (*results)[a].GetDouble(i)) << a << ", " << i;
}

constexpr const char* kTwoAxes = R"(
nest two_axes {
  input A: f32[4, 8]
  output C: f32[4, 8]
  local s: f32[9]
  phase main {
    grid.x for b in 0 .. 4 {
      alloc s: shared {
        first: s[8] = A[b, 0]
        block.x for x in 0 .. 8 {
          fill: s[x] = A[b, x]
        }
        barrier
        block.y for y in 0 .. 2 {
          block.x for z in 0 .. 4 {
            use: C[b, 4*y + z] = s[7 - 4*y - z] + s[8]
          }
        }
      }
    }
  }
}
)";

TEST(AssignThreads, GivesWorkOfNoThreadToThread0) {
  const LoopNest nest = Parsed(kTwoAxes);
  const LoopNest assigned = AssignThreads(nest);
  ExpectSameResults(nest, assigned);
  EXPECT_THAT(Print(assigned), HasSubstr(R"(      alloc s: shared {
        block.x for thread_x in 0 .. 1 {
          block.y for thread_y in 0 .. 1 {
            first: s[8] = A[b, 0]
          }
        }
        block.x for x in 0 .. 8 {
          block.y for thread_y in 0 .. 1 {
            fill: s[x] = A[b, x]
          }
        }
        barrier
        block.y for y in 0 .. 2 {
          block.x for z in 0 .. 4 {
            use: )"));
}

TEST(AssignThreads, LeavesNestsWithoutThreadsAlone) {
  const LoopNest nest = Parsed(R"(
nest plain {
  output C: f32[4]
  phase main {
    parallel for i in 0 .. 4 {
      s: C[i] = 1.0
    }
  }
}
)");
  EXPECT_EQ(AssignThreads(nest), nest);
}

std::string NestOfRegisters(const std::string& body) {
  return R"(
nest registers {
  input A: f32[2, 32]
  output C: f32[2, 32]
  local r: f32[8, 4]
  phase main {
    grid.x for b in 0 .. 2 {
      alloc r: register {
)" + body +
         R"(
      }
    }
  }
}
)";
}

TEST(PrivatizeThreads, TakesTheThreadsNumberOutOfIndices) {
  const LoopNest nest = Parsed(NestOfRegisters(R"(
block.x for x in 0 .. 8 {
  unrolled for i in 0 .. 4 {
    fill: r[x, i] = A[b, 4*x + i]
  }
}
block.x for y in 0 .. 8 {
  unrolled for i in 0 .. 4 {
    use: C[b, 4*y + i] = r[y, 3 - i]
  }
}
)"));
  const auto own = PrivatizeThreads(nest);
  ASSERT_TRUE(own) << own.error().message;
  ExpectSameResults(nest, *own);
  const std::string text = Print(*own);
  EXPECT_THAT(text, HasSubstr("alloc r: register per_thread {"));
  EXPECT_THAT(text, HasSubstr("local r: f32[1, 4]"));
  EXPECT_THAT(text, HasSubstr("fill: r[0, i] = A[b, 4*x + i]"));
  EXPECT_THAT(text, HasSubstr("= r[0, -i + 3]"));
}

TEST(PrivatizeThreads, ShrinksAPartOfADimension) {
  const LoopNest nest = Parsed(NestOfRegisters(R"(
block.x for x in 0 .. 2 {
  unrolled for j in 0 .. 4 {
    unrolled for i in 0 .. 4 {
      fill: r[4*x + j, i] = A[b, 16*x + 4*j + i]
    }
  }
  unrolled for k in 0 .. 16 {
    use: C[b, 16*x + k] = r[floor((16*x + k)/4), k mod 4]
  }
}
)"));
  const auto own = PrivatizeThreads(nest);
  ASSERT_TRUE(own) << own.error().message;
  ExpectSameResults(nest, *own);
  EXPECT_THAT(Print(*own), HasSubstr("local r: f32[4, 4]"));
  EXPECT_THAT(Print(*own), HasSubstr("r[floor(k/4), k mod 4]"));
}

TEST(PrivatizeThreads, RejectsWhatBelongsToDifferentThreads) {
  const auto other = PrivatizeThreads(Parsed(NestOfRegisters(R"(
block.x for x in 0 .. 8 {
  fill: r[x, 0] = A[b, x]
}
block.x for y in 0 .. 8 {
  use: C[b, y] = r[7 - y, 0]
}
)")));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(other.error().message, HasSubstr("r storage of each thread, index 0: two accesses"));

  const auto mixed = PrivatizeThreads(Parsed(NestOfRegisters(R"(
block.x for x in 0 .. 8 {
  unrolled for i in 0 .. 4 {
    fill: r[floor((x + i)/2), i] = A[b, x]
  }
}
)")));
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().message, HasSubstr("mixes"));
}

constexpr const char* kWarps = R"(
nest warps {
  input A: bf16[16, 16]
  input B: bf16[16, 8]
  output C: f32[2, 16, 8]
  local a: bf16[16, 16]
  local b: bf16[16, 8]
  local acc: f32[2, 16, 8]
  phase main {
    grid.x for g in 0 .. 1 {
      alloc acc: fragment {
        alloc a: shared {
          alloc b: shared {
            block.y for w in 0 .. 2 {
              block.x for l in 0 .. 32 {
                for u in 0 .. 2 {
                  for v in 0 .. 2 {
                    init: acc[w, 8*u + floor(l/4), 2*(l mod 4) + v] = 0.0
                  }
                }
              }
            }
            block.x for x in 0 .. 16 {
              for y in 0 .. 16 {
                copy_a: a[x, y] = A[x, y]
              }
              for z in 0 .. 8 {
                copy_b: b[x, z] = B[x, z]
              }
            }
            barrier
            block.y for w in 0 .. 2 {
              tile mma.m16n8k16.bf16 {
                for m in 0 .. 16 {
                  for k in 0 .. 16 {
                    for n in 0 .. 8 {
                      all: acc[w, m, n] sum= f32(a[m, k]) * f32(b[k, n])
                    }
                  }
                }
              }
            }
            tile mma.m16n8k16.bf16 {
              for m in 0 .. 16 {
                for k in 0 .. 16 {
                  for n in 0 .. 8 {
                    first: acc[0, m, n] sum= f32(a[m, k]) * f32(b[k, n])
                  }
                }
              }
            }
            block.y for w in 0 .. 2 {
              block.x for l in 0 .. 32 {
                for u in 0 .. 2 {
                  for v in 0 .. 2 {
                    out: C[w, 8*u + floor(l/4), 2*(l mod 4) + v] = acc[w, 8*u + floor(l/4), 2*(l mod 4) + v]
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
)";

TEST(AssignThreads, LeavesTilesOfWarpsToAllLanes) {
  const LoopNest nest = Parsed(kWarps);
  const LoopNest assigned = AssignThreads(nest);
  ExpectSameResults(nest, assigned);
  const std::string text = Print(assigned);
  EXPECT_THAT(text, HasSubstr("block.y for w in 0 .. 2 {\n              tile mma.m16n8k16.bf16"));
  EXPECT_THAT(text,
              HasSubstr("block.y for thread_y in 0 .. 1 {\n              tile mma.m16n8k16.bf16"));
}

TEST(PrivatizeThreads, MakesRegistersOfFragments) {
  const LoopNest nest = Parsed(kWarps);
  const auto own = PrivatizeThreads(AssignThreads(nest));
  ASSERT_TRUE(own) << own.error().message;
  ExpectSameResults(nest, *own);
  const std::string text = Print(*own);
  EXPECT_THAT(text, HasSubstr("local acc: f32[1, 1, 1, 4]"));
  EXPECT_THAT(text, HasSubstr("alloc acc: register per_thread {"));
  EXPECT_THAT(text, HasSubstr("all: acc[0, 0, 0, 0] sum= f32(a[m, k]) * f32(b[k, n])"));
  EXPECT_THAT(text, HasSubstr("first: acc[0, 0, 0, 0] sum="));
  EXPECT_THAT(text, HasSubstr("init: acc[0, floor(u/2), floor(v/8), "));
}

// Maps kWarps to threads, and replaces the first `what` in the mapped nest's text by `by`. Returns
// the verifier's error, or an empty string if there is none.
std::string RejectionOfRegisters(const std::string& what, const std::string& by) {
  const auto own = PrivatizeThreads(AssignThreads(Parsed(kWarps)));
  EXPECT_TRUE(own) << own.error().message;
  std::string text = Print(*own);
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  const auto nest = ParseLoopNest(text.replace(at, what.size(), by), "n");
  EXPECT_TRUE(nest) << nest.error().Format();
  const Status status = Verify(*nest);
  return status ? "" : status.error().message;
}

TEST(PrivatizeThreads, RegistersOfFragmentsAreVerified) {
  EXPECT_EQ(RejectionOfRegisters("acc[0, 0, 0, 0] sum=", "acc[0, 0, 0, 1] sum="),
            "tile mma.m16n8k16.bf16: the last index of acc is not 0");
  EXPECT_EQ(RejectionOfRegisters("local acc: f32[1, 1, 1, 4]", "local acc: f32[1, 1, 1, 8]"),
            "tile mma.m16n8k16.bf16: the last dimension of acc does not have the 4 elements of a "
            "lane");
  EXPECT_THAT(RejectionOfRegisters("acc[0, 0, 0, 0] sum=", "acc[0, 0, floor(n/7), 0] sum="),
              HasSubstr("uses n, but all lanes have one index"));
  EXPECT_THAT(RejectionOfRegisters("acc: register per_thread", "acc: register"),
              HasSubstr("acc is in register storage, which the tile cannot access"));
}

TEST(PrivatizeThreads, RejectsFragmentsWithoutTiles) {
  std::string text = NestOfRegisters("block.x for x in 0 .. 8 {\n s: r[x, 0] = 0.0\n}\n");
  text.replace(text.find("r: register"), 11, "r: fragment");
  const auto own = PrivatizeThreads(Parsed(text));
  ASSERT_FALSE(own);
  EXPECT_THAT(own.error().message, HasSubstr("no tile assigns the elements of r to lanes"));
}

// Returns the text of a nest with rows of 32 elements. Thread x of four has the elements 2x and
// 2x + 1 of every eight. `used` is the index of the read of r.
std::string NestOfTurns(const std::string& used) {
  return R"(
nest turns {
  input A: f32[2, 32]
  output C: f32[2, 32]
  local r: f32[32]
  phase main {
    grid.x for b in 0 .. 2 {
      alloc r: register {
        block.x for x in 0 .. 4 {
          unrolled for c in 0 .. 4 {
            unrolled for v in 0 .. 2 {
              fill: r[8*c + 2*x + v] = A[b, 8*c + 2*x + v]
            }
          }
        }
        block.x for y in 0 .. 4 {
          unrolled for d in 0 .. 4 {
            unrolled for w in 0 .. 2 {
              use: C[b, 8*d + 2*y + w] = r[)" +
         used + R"(]
            }
          }
        }
      }
    }
  }
}
)";
}

TEST(CutPrivateDimensions, GivesEachThreadAPart) {
  const LoopNest nest = Parsed(NestOfTurns("8*d + 2*y + w"));
  const LoopNest cut = CutPrivateDimensions(nest);
  ExpectSameResults(nest, cut);
  EXPECT_THAT(Print(cut), HasSubstr("local r: f32[4, 8]"));
  EXPECT_THAT(Print(cut), HasSubstr("fill: r[c, 2*x + v] ="));
  const auto own = PrivatizeThreads(cut);
  ASSERT_TRUE(own) << own.error().message;
  ExpectSameResults(nest, *own);
  EXPECT_THAT(Print(*own), HasSubstr("local r: f32[4, 2]"));
  EXPECT_THAT(Print(*own), HasSubstr("fill: r[c, v] ="));
}

TEST(CutPrivateDimensions, LeavesOtherTurnsAlone) {
  // Three threads at a distance of two elements cover only 6 of every 8 elements.
  const LoopNest nest = Parsed(R"(
nest other {
  output C: f32[32]
  local r: f32[32]
  phase main {
    alloc r: register {
      block.x for x in 0 .. 3 {
        unrolled for c in 0 .. 4 {
          fill: r[8*c + 2*x] = 1.0
        }
      }
      block.x for y in 0 .. 3 {
        unrolled for d in 0 .. 4 {
          use: C[8*d + 2*y] = r[8*d + 2*y]
        }
      }
    }
  }
}
)");
  EXPECT_EQ(CutPrivateDimensions(nest), nest);
}

TEST(CutPrivateDimensions, LeavesThreadsThatCountBackwardsAlone) {
  const LoopNest nest = Parsed(R"(
nest backwards {
  output C: f32[32]
  local r: f32[32]
  phase main {
    alloc r: register {
      block.x for x in 0 .. 4 {
        unrolled for c in 0 .. 8 {
          fill: r[4*c + 3 - x] = 1.0
        }
      }
      block.x for y in 0 .. 4 {
        unrolled for d in 0 .. 8 {
          use: C[4*d + 3 - y] = r[4*d + 3 - y]
        }
      }
    }
  }
}
)");
  EXPECT_EQ(CutPrivateDimensions(nest), nest);
}

}  // namespace
}  // namespace tunec
