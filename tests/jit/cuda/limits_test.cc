// Tests of the checks that reject loops for a GPU before code generation.
#include "jit/cuda/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "jit/cuda/arch.h"
#include "jit/cuda/cuda_generator.h"
#include "tests/jit/block_nests.h"
#include "tests/jit/nest_runner.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;

const Accelerator& H100() {
  static const Accelerator device = *CudaAccelerator("sm_90a");
  return device;
}

std::string Rejection(const Status& status) { return status ? "none" : status.error().message; }

TEST(CudaLimits, HoldOfALaunch) {
  EXPECT_TRUE(CheckLaunchLimits(jit_test::Parse(std::string(jit_test::kSharedNest)), H100()));
  const LoopNest deep = jit_test::Parse(std::string(jit_test::kDeepNest));
  const Status along_z = CheckLaunchLimits(deep, H100());
  EXPECT_EQ(Rejection(along_z),
            "phase main has 128 threads a block along z, sm_90a has at most 64");
  EXPECT_EQ(along_z.error().code, ErrorCode::kResourceLimit);

  const LoopNest sharing = jit_test::Parse(R"(
nest sharing {
  output C: f32[64]
  local s: f32[60000]
  phase main {
    grid.x for b in 0 .. 1 {
      alloc s: shared {
        block.x for x in 0 .. 64 {
          a: s[x] = 1.0
        }
        block.x for y in 0 .. 64 {
          c: C[y] = s[y]
        }
      }
    }
  }
}
)");
  EXPECT_EQ(Rejection(CheckLaunchLimits(sharing, H100())),
            "phase main has 240000 bytes that a block shares, sm_90a has at most 232448");
  EXPECT_THAT(Rejection(CheckLaunchLimits(sharing, *CudaAccelerator("sm_86"))),
              HasSubstr("sm_86 has at most 101376"));
}

// Returns a nest with 64 threads, each with this many sums in registers. The registers are
// allocated inside or outside the loop over the threads.
std::string SumsOfAThread(int sums, std::string_view location) {
  const std::string alloc = "alloc r: register";
  const bool inside = location == "inside";
  return fmt::format(R"(
nest sums {{
  output C: f32[64, {0}]
  local r: f32[{1}{0}]
  phase main {{
    grid.x for b in 0 .. 1 {{
      {2}
      block.x for x in 0 .. 64 {{
        {3}
        for i in 0 .. {0} {{
          a: r[{4}i] = 1.0
        }}
        for j in 0 .. {0} {{
          c: C[x, j] = r[{4}j]
        }}
        {5}
      }}
      {6}
    }}
  }}
}}
)",
                     sums, inside ? "" : "64, ", inside ? "" : alloc + " {",
                     inside ? alloc + " {" : "", inside ? "" : "x, ", inside ? "}" : "",
                     inside ? "" : "}");
}

// A tensor outside the loop is divided among the threads, so each one has equally many registers.
TEST(CudaLimits, RegistersAreCountedForEachThread) {
  for (const char* location : {"inside", "outside"}) {
    const LoopNest few = jit_test::Parse(SumsOfAThread(8, location));
    EXPECT_EQ(LeastRegisters(few.phases[0], few), 8) << location;
    EXPECT_TRUE(CheckRegisters(few, H100())) << location;
    const LoopNest many = jit_test::Parse(SumsOfAThread(320, location));
    EXPECT_EQ(Rejection(CheckRegisters(many, H100())),
              "phase main has 320 registers a thread at least, sm_90a has at most 255")
        << location;
  }
  Accelerator small = H100();
  small.registers = 256;
  EXPECT_EQ(Rejection(CheckRegisters(jit_test::Parse(SumsOfAThread(8, "inside")), small)),
            "phase main has 512 registers a block at least, sm_90a has at most 256");
}

// Returns a nest in which a warp computes 16 rows and 8 columns per tile, in four registers of each
// lane.
std::string SumsOfAWarp(int tiles) {
  return fmt::format(R"(
nest sums {{
  input A: bf16[16, 16]
  input B: bf16[16, {0}]
  output C: f32[16, {0}]
  local acc: f32[16, {0}]
  phase main {{
    grid.x for g in 0 .. 1 {{
      alloc acc: fragment {{
        block.x for l in 0 .. 32 {{
          for j in 0 .. {1} {{
            for u in 0 .. 2 {{
              for v in 0 .. 2 {{
                init: acc[{2}] = 0.0
              }}
            }}
          }}
        }}
        for j in 0 .. {1} {{
          tile mma.m16n8k16.bf16 {{
            for m in 0 .. 16 {{
              for k in 0 .. 16 {{
                for n in 0 .. 8 {{
                  s: acc[m, 8*j + n] sum= f32(A[m, k]) * f32(B[k, 8*j + n])
                }}
              }}
            }}
          }}
        }}
        block.x for l in 0 .. 32 {{
          for j in 0 .. {1} {{
            for u in 0 .. 2 {{
              for v in 0 .. 2 {{
                out: C[{2}] = acc[{2}]
              }}
            }}
          }}
        }}
      }}
    }}
  }}
}}
)",
                     8 * tiles, tiles, "8*u + floor(l/4), 8*j + 2*(l mod 4) + v");
}

TEST(CudaLimits, FragmentsAreRegisters) {
  const LoopNest few = jit_test::Parse(SumsOfAWarp(4));
  EXPECT_EQ(LeastRegisters(few.phases[0], few), 16);
  EXPECT_TRUE(CheckRegisters(few, H100()));
  EXPECT_EQ(Rejection(CheckRegisters(jit_test::Parse(SumsOfAWarp(64)), H100())),
            "phase main has 256 registers a thread at least, sm_90a has at most 255");
}

// The tuner rejects a schedule with too many registers before compilation. A user's schedule is
// compiled if it is within the limits of a launch.
TEST(CudaLimits, FewRegistersAreNoReasonToRejectCode) {
  const Target target{.device = H100()};
  const LoopNest many = jit_test::Parse(SumsOfAThread(320, "inside"));
  const auto generator = MakeCudaGenerator();
  EXPECT_THAT(Rejection(generator->CheckFits(many, target)), HasSubstr("320 registers a thread"));
  EXPECT_TRUE(generator->Show(*generator->MapThreads(many), target, CodeText::kLlvmIr));
}

}  // namespace
}  // namespace tunec
