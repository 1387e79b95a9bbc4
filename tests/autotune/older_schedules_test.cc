// Tests the migration of schedules from older databases. Migrated schedules equal the schedules
// that sketches write now, and give the same loops as before the migration.
#include "db/tables/older_schedules.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/sketch.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/operators.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

// Returns the schedule without its storage_order lines, which version 1 of the schedule language
// does not have.
std::string WithoutOrders(const std::string& schedule) {
  std::string older;
  std::istringstream lines(schedule);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("storage_order ")) older += line + "\n";
  }
  return older;
}

// Returns the texts of 20 schedules of a sketch. The first is analytic, the others are random.
std::vector<std::string> SomeSchedules(const Sketch& sketch, std::mt19937& random) {
  std::vector<std::string> schedules = {Print(sketch.Fill(sketch.InitialDecisions()))};
  while (schedules.size() < 20) {
    schedules.push_back(Print(sketch.Fill(test::RandomDecisions(sketch, random))));
  }
  return schedules;
}

TEST(OlderSchedules, AreWhatSketchesWrite) {
  std::mt19937 random(7);
  const Target target{
      .host = {.features = {"avx2", "fma", "avx512f"}, .vector_bits = 512, .vector_registers = 32}};
  int ordered = 0;
  for (const test::Program& program : test::kPrograms) {
    const Result<Compute> compute = ParseCompute(program.text, "program");
    ASSERT_TRUE(compute) << compute.error().Format();
    for (const Sketch& sketch :
         SketchesFor({{{"direct", *compute}}, target, ReductionOrder::kAny})) {
      for (const std::string& schedule : SomeSchedules(sketch, random)) {
        const std::string older = WithoutOrders(schedule);
        EXPECT_EQ(WithStorageOrders(older, Print(*compute)), schedule) << program.name;
        ordered += schedule != older ? 1 : 0;
      }
    }
  }
  EXPECT_GT(ordered, 100);
}

// A Compute, a version 1 schedule, and the loops that tunec generated from both under version 1.
// The texts are copied from tests/schedule/golden/ of commit 967bb2b. They are not golden files and
// must not be rewritten, because they record the meaning of a version 1 schedule.
struct OfVersion1 {
  std::string_view compute, schedule, loops;
};

constexpr OfVersion1 kPackedWeight = {
    R"(compute product {
  input A: f32[3, 20]
  weight B: f32[20, 29] constant
  output C: f32[3, 20]
  C[i: 3, j: 20, k: 29 reduction]:
    C[i, j] sum= A[i, 0] * B[j, k]
}
)",
    R"(lower direct
pack B 0/8 1 0%8
)",
    R"(nest B.pack {
  input B: f32[20, 29]
  output B.pack: f32[20, 29] layout [3, 29, 8] (i, j) -> [floor(i/8), j, i mod 8] align 64
  phase B.pack {
    parallel for B_pack_d0_0 in 0 .. 3 {
      if (-B_pack_d0_0 + 1 >= 0) {
        for B_pack_d1 in 0 .. 29 {
          vector for B_pack_d0_1 in 0 .. 8 {
            B.pack: B.pack[8*B_pack_d0_0 + B_pack_d0_1, B_pack_d1] = B[8*B_pack_d0_0 + B_pack_d0_1, B_pack_d1]
          }
        }
      }
      if (B_pack_d0_0 - 2 >= 0) {
        for B_pack_d1__1 in 0 .. 29 {
          vector for B_pack_d0_1__1 in 0 .. 4 {
            B.pack: B.pack[B_pack_d0_1__1 + 16, B_pack_d1__1] = B[B_pack_d0_1__1 + 16, B_pack_d1__1]
          }
        }
      }
    }
  }
}
nest product {
  input A: f32[3, 20]
  output C: f32[3, 20]
  weight B.pack: f32[20, 29] constant layout [3, 29, 8] (i, j) -> [floor(i/8), j, i mod 8] align 64
  phase C.init {
    for C_init_i in 0 .. 3 {
      for C_init_j in 0 .. 20 {
        C.init: C[C_init_i, C_init_j] = 0.0
      }
    }
  }
  phase C {
    for C_i in 0 .. 3 {
      for C_j in 0 .. 20 {
        for C_k in 0 .. 29 {
          C: C[C_i, C_j] sum= A[C_i, 0] * B.pack[C_j, C_k]
        }
      }
    }
  }
}
)"};

constexpr OfVersion1 kWidenedWeight = {
    R"(compute product {
  input A: f16[5, 9]
  weight B: f16[9, 7] constant
  output C: f32[5, 7]
  C[i: 5, j: 7, k: 9 reduction]:
    C[i, j] sum= f32(A[i, k]) * f32(B[k, j])
}
)",
    R"(lower direct
widen A C
widen B C
pack B.wide 1/4 0 1%4
vectorize A.wide.d1
)",
    R"(nest B.wide {
  input B: f16[9, 7]
  output B.wide: f32[9, 7] layout [2, 9, 4] (i, j) -> [floor(j/4), i, j mod 4] align 64
  phase B.wide {
    parallel for B_wide_d1_0 in 0 .. 2 {
      if (-B_wide_d1_0 >= 0) {
        for B_wide_d0 in 0 .. 9 {
          vector for B_wide_d1_1 in 0 .. 4 {
            B.wide: B.wide[B_wide_d0, B_wide_d1_1] = f32(B[B_wide_d0, B_wide_d1_1])
          }
        }
      }
      if (B_wide_d1_0 - 1 >= 0) {
        for B_wide_d0__1 in 0 .. 9 {
          vector for B_wide_d1_1__1 in 0 .. 3 {
            B.wide: B.wide[B_wide_d0__1, B_wide_d1_1__1 + 4] = f32(B[B_wide_d0__1, B_wide_d1_1__1 + 4])
          }
        }
      }
    }
  }
}
nest product {
  input A: f16[5, 9]
  output C: f32[5, 7]
  workspace A.wide: f32[5, 9] align 64
  weight B.wide: f32[9, 7] constant layout [2, 9, 4] (i, j) -> [floor(j/4), i, j mod 4] align 64
  phase A.wide {
    for A_wide_d0 in 0 .. 5 {
      vector for A_wide_d1 in 0 .. 9 {
        A.wide: A.wide[A_wide_d0, A_wide_d1] = f32(A[A_wide_d0, A_wide_d1])
      }
    }
  }
  phase C.init {
    for C_init_i in 0 .. 5 {
      for C_init_j in 0 .. 7 {
        C.init: C[C_init_i, C_init_j] = 0.0
      }
    }
  }
  phase C {
    for C_i in 0 .. 5 {
      for C_j in 0 .. 7 {
        for C_k in 0 .. 9 {
          C: C[C_i, C_j] sum= A.wide[C_i, C_k] * B.wide[C_k, C_j]
        }
      }
    }
  }
}
)"};

std::string LoopsText(const Compute& compute, const std::string& schedule_text) {
  const auto schedule = ParseSchedule(schedule_text, "migrated.sched");
  if (!schedule) return schedule.error().Format();
  const auto kernel = test::LoopsOf(compute, *schedule, ReductionOrder::kAny);
  if (!kernel) return kernel.error().Format();
  std::string text;
  for (const LoopNest& prepack : kernel->prepack) text += Print(prepack);
  return text + Print(kernel->nest);
}

TEST(OlderSchedules, GiveTheLoopsThatTheyGaveThen) {
  for (const OfVersion1& of : {kPackedWeight, kWidenedWeight}) {
    const Compute compute = test::MustParse(of.compute);
    EXPECT_EQ(LoopsText(compute, WithStorageOrders(of.schedule, Print(compute))), of.loops);
    EXPECT_NE(LoopsText(compute, std::string(of.schedule)), of.loops) << "nothing was migrated";
  }
}

}  // namespace
}  // namespace tunec
