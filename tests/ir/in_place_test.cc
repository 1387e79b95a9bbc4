// Tests of the search for outputs that may use the memory of an input, on small nests.
#include "ir/nest/in_place.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tunec {
namespace {

std::vector<std::string> PairsOf(std::string_view text) {
  const auto nest = ParseLoopNest(text, "test");
  if (!nest) {
    ADD_FAILURE() << nest.error().Format();
    return {};
  }
  EXPECT_TRUE(Verify(*nest));
  std::vector<std::string> pairs;
  for (const InPlacePair& pair : FindInPlacePairs(*nest)) {
    pairs.push_back(nest->tensors[pair.input].name + "->" + nest->tensors[pair.output].name);
  }
  return pairs;
}

using Names = std::vector<std::string>;

TEST(InPlace, ElementByElement) {
  EXPECT_EQ(PairsOf(R"(nest add {
  input A: f32[4, 8]
  input B: f32[8]
  input D: f32[32]
  output C: f32[4, 8]
  phase main {
    parallel for i in 0 .. 4 {
      vector for j in 0 .. 8 {
        S: C[i, j] = (A[i, j] + B[j]) * D[8*i + j]
      }
    }
  }
})"),
            (Names{"A->C", "D->C"}));
}

TEST(InPlace, AnotherPlaceIsRead) {
  EXPECT_EQ(PairsOf(R"(nest reverse {
  input A: f32[8]
  output C: f32[8]
  phase main {
    for i in 0 .. 8 {
      S: C[i] = A[-i + 7] + A[i]
    }
  }
})"),
            Names{});
}

TEST(InPlace, ReadAgainBySomethingElse) {
  EXPECT_EQ(PairsOf(R"(nest twice {
  input A: f32[8]
  output C: f32[8]
  output D: f32[8]
  phase main {
    for i in 0 .. 8 {
      S: C[i] = A[i] * 2.0
    }
  }
  phase second {
    for i in 0 .. 8 {
      T: D[i] = A[i] * 3.0
    }
  }
})"),
            Names{});
}

// The output accumulates the sum. The initial value 0 would overwrite the input that is added at
// the end.
TEST(InPlace, AccumulatedInTheOutput) {
  EXPECT_EQ(PairsOf(R"(nest sum {
  input X: f32[4, 8]
  input R: f32[4]
  output C: f32[4]
  phase main {
    parallel for i in 0 .. 4 {
      I: C[i] = 0.0
      for k in 0 .. 8 {
        S: C[i] sum= X[i, k]
      }
      T: C[i] = C[i] + R[i]
    }
  }
})"),
            Names{});
}

TEST(InPlace, AccumulatedInRegistersAndAddedAtTheEnd) {
  EXPECT_EQ(PairsOf(R"(nest sum {
  input X: f32[4, 8]
  input R: f32[4]
  output C: f32[4]
  local acc: f32[]
  phase main {
    parallel for i in 0 .. 4 {
      alloc acc: register {
        I: acc[] = 0.0
        for k in 0 .. 8 {
          S: acc[] sum= X[i, k]
        }
        T: C[i] = acc[] + R[i]
      }
    }
  }
})"),
            Names{"R->C"});
}

TEST(InPlace, OtherSizesOrLayoutsDoNot) {
  EXPECT_EQ(PairsOf(R"(nest cast {
  input A: f32[4, 4]
  input B: f64[4, 4]
  input T: f32[4, 4] layout [4, 4] (i, j) -> [j, i]
  output C: f32[4, 4]
  phase main {
    for i in 0 .. 4 {
      for j in 0 .. 4 {
        S: C[i, j] = A[i, j] + f32(B[i, j]) + T[i, j]
      }
    }
  }
})"),
            Names{"A->C"});
}

constexpr std::string_view kScatterArguments = R"(
  input A: f32[8, 4]
  input P: i64[3] range [0, 7]
  input U: f32[3, 4]
  output C: f32[8, 4]
)";
constexpr std::string_view kCopy = R"(
    for i in 0 .. 8 {
      for j in 0 .. 4 {
        copy: C[i, j] = A[i, j]
      }
    }
)";
constexpr std::string_view kUpdates = R"(
    for u in 0 .. 3 {
      for k in 0 .. 4 {
        updates: C[@(P[u]), k] = C[@(P[u]), k] + U[u, k]
      }
    }
)";

std::string ScatterOf(std::string_view phases) {
  return fmt::format("nest scatter {{{}{}}}", kScatterArguments, phases);
}

// After the last phase that reads the input, the output may be written anywhere in common memory.
TEST(InPlace, WrittenAnywhereAfterItWasRead) {
  EXPECT_EQ(
      PairsOf(ScatterOf(fmt::format("  phase a {{{}}}\n  phase b {{{}}}\n", kCopy, kUpdates))),
      Names{"A->C"});
  EXPECT_EQ(PairsOf(ScatterOf(fmt::format("  phase a {{{}{}}}\n", kCopy, kUpdates))), Names{})
      << "parts of one phase run at the same time";
  EXPECT_EQ(PairsOf(ScatterOf(R"(
  phase a {
    for u in 0 .. 3 {
      for j in 0 .. 4 {
        copy: C[@(P[u]), j] = A[@(P[u]), j] + U[u, j]
      }
    }
  }
)")),
            Names{})
      << "two may read one place";
  EXPECT_EQ(PairsOf(ScatterOf(fmt::format("  phase a {{{}}}\n  phase b {{{}}}\n", kCopy, R"(
    for u in 0 .. 3 {
      for k in 0 .. 4 {
        updates: C[@(P[u]), k] = A[u, k]
      }
    }
)"))),
            Names{})
      << "read after others were written";
}

// Returns the pair "input->output" that the first part of the first phase copies, "none", or an
// error.
std::string CopiedIn(std::string_view text) {
  const auto nest = ParseLoopNest(text, "test");
  if (!nest) return nest.error().Format();
  const auto pair = CopiedPair(nest->phases[0].body[0], FindInPlacePairs(*nest));
  return pair ? nest->tensors[pair->input].name + "->" + nest->tensors[pair->output].name : "none";
}

TEST(InPlace, CopiesDoNothing) {
  EXPECT_EQ(
      CopiedIn(ScatterOf(fmt::format("  phase a {{{}}}\n  phase b {{{}}}\n", kCopy, kUpdates))),
      "A->C");
  EXPECT_EQ(CopiedIn(ScatterOf(R"(
  phase a {
    for i in 0 .. 8 {
      for j in 0 .. 4 {
        copy: C[i, j] = A[i, j] * 2.0
      }
    }
  }
)")),
            "none");
}

}  // namespace
}  // namespace tunec
