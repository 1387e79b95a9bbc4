// Loop nests over blocks of threads, for tests of several folders.
#pragma once

#include <string_view>

namespace tunec::jit_test {

/// A nest whose threads have shared and private storage. Rows of A and C end in the middle of a
/// block.
inline constexpr std::string_view kSharedNest = R"(
nest shared {
  input A: f32[6, 40]
  output C: f32[6, 40]
  local t: f32[16]
  local r: f32[16, 2]
  phase main {
    grid.y for b in 0 .. 6 {
      grid.x for c in 0 .. 3 {
        alloc r: register {
          alloc t: shared {
            block.x for x in 0 .. 16 {
              if (39 - 16*c - x >= 0) {
                fill: t[x] = A[b, 16*c + x]
              }
            }
            barrier
            block.x for y in 0 .. 16 {
              unrolled for u in 0 .. 2 {
                mix: r[y, u] = t[y mod 8] + 1.0
              }
            }
          }
          block.x for z in 0 .. 16 {
            if (39 - 16*c - z >= 0) {
              use: C[b, 16*c + z] = r[z, 0] * r[z, 1]
            }
          }
        }
      }
    }
  }
})";

/// A nest whose blocks have more threads along z than a GPU allows.
inline constexpr std::string_view kDeepNest = R"(
nest deep {
  output C: f32[128]
  phase main {
    grid.x for b in 0 .. 1 {
      block.z for z in 0 .. 128 {
        s: C[z] = 1.0
      }
    }
  }
}
)";

}  // namespace tunec::jit_test
