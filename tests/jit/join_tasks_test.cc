// Tests of phases that are too short for tasks.
#include "jit/cpu/join_tasks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

// Returns a nest of two phases that add rows of 64 elements. The second one also reads a weight.
std::string Sums(int rows, int weights) {
  return fmt::format(R"(
nest sums {{
  input A: f32[{0}, 64]
  weight W: f32[{1}]
  output B: f32[{0}, 64]
  output C: f32[{0}, 64]
  phase first {{
    parallel for i in 0 .. {0} {{
      vector for j in 0 .. 64 {{ s: B[i, j] = A[i, j] + 1.0 }}
    }}
  }}
  phase second {{
    parallel for i in 0 .. {0} {{
      vector for j in 0 .. 64 {{ t: C[i, j] = A[i, j] * W[0] }}
    }}
  }}
}})",
                     rows, weights);
}

std::vector<int64_t> TasksOf(const std::string& text) {
  const LoopNest nest = JoinShortTasks(Parse(text));
  std::vector<int64_t> tasks;
  for (const Phase& phase : nest.phases) tasks.push_back(CountTasks(phase));
  return tasks;
}

TEST(JoinTasks, ShortPhasesHaveOne) {
  EXPECT_EQ(TasksOf(Sums(20, 1)), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(TasksOf(Sums(5000, 1)), (std::vector<int64_t>{5000, 5000}));
  ExpectAsInterpreted(Sums(20, 1));
}

TEST(JoinTasks, LargeWeightsTakeTime) {
  EXPECT_EQ(TasksOf(Sums(20, 1 << 20)), (std::vector<int64_t>{20, 20}));
}

// A task of a wave must not begin before the end of the wave before, so tasks stay as they are.
TEST(JoinTasks, WavesStay) {
  const std::string text = R"(
nest waves {
  output B: f32[4, 8]
  phase main {
    wave for w in 0 .. 4 {
      parallel for i in 0 .. 8 { s: B[w, i] = 1.0 }
    }
  }
})";
  EXPECT_EQ(TasksOf(text), (std::vector<int64_t>{32}));
}

}  // namespace
}  // namespace tunec::jit_test
