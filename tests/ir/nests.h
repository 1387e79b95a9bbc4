// Texts of small loop nests, as Print writes them, for the tests of this folder.
#pragma once

#include <string_view>
#include <utility>

namespace tunec::test {

/// A matrix product of 37 x 29 x 13 and a relu, in tiles of 6 x 8, with accumulators in registers
/// and masked edges.
inline constexpr std::string_view kTiledMatmul = R"(nest matmul {
  input A: f32[37, 29]
  input B: f32[29, 13]
  output C: f32[37, 13]
  workspace P: f32[2, 29, 8] align 64
  local acc: f32[6, 8]
  phase pack {
    parallel for jo in 0 .. 2 {
      for k in 0 .. 29 {
        vector for ji in 0 .. 8 {
          pack: P[jo, k, ji] = B[k, 8*jo + ji] where (-8*jo - ji + 12 >= 0) else 0.0
        }
      }
    }
  }
  phase main {
    parallel for io in 0 .. 7 {
      parallel for jo in 0 .. 2 {
        alloc acc: register {
          unrolled for ii in 0 .. 6 {
            vector for ji in 0 .. 8 {
              S_init: acc[ii, ji] = 0.0
            }
          }
          for k in 0 .. 29 unroll 4 {
            unrolled for ii in 0 .. 6 {
              vector for ji in 0 .. 8 {
                S: acc[ii, ji] sum= (A[6*io + ii, k] where (-6*io - ii + 36 >= 0) else 0.0) * P[jo, k, ji]
              }
            }
          }
          unrolled for i in 6*io .. 6*io + 6 {
            vector for ji in 0 .. 8 {
              if (-i + 36 >= 0, -8*jo - ji + 12 >= 0) {
                T non_temporal: C[i, 8*jo + ji] = max(acc[-6*io + i, ji], 0.0)
              }
            }
          }
        }
      }
    }
  }
}
)";

inline constexpr std::string_view kEverything = R"(nest everything separate {
  input A: f32[16, 16]
  output C: f32[16, 16]
  local S: f32[2, 4, 16]
  local "odd name": f32[]
  phase only {
    parallel for io in 0 .. 4 {
      alloc S: packed stages 2 {
        async_copy 3 A[4*io, 0] -> S[io mod 2, 0, 0] extent [4, 16]
        arrive 3 stage io mod 2
        wait 3 stage io mod 2 parity 0
        for i in max(4*io, 0) .. min(4*io + 4, 16) {
          prefetch A[i, 0] level 2 write
          alloc "odd name": register {
            serial_sum_init: "odd name"[] = 0.0
            for j in 0 .. 16 {
              serial_sum: {
                reducer scaled identity (0.0) combine (acc0_f32 + 2.0 * new0_f32)
                "odd name"[] scaled= S[io mod 2, -4*io + i, j]
              }
            }
            for j in 0 .. 16 {
              "": {
                @0 = A[i, j]
                @1 = "odd name"[]
                C[i, j] = @1 - @0
              }
            }
          }
        }
      }
    }
  }
}
)";

inline constexpr std::string_view kSpecialized = R"(nest specialized {
  input A: f32[16]
  output C: f32[16]
  phase only {
    grid.y for b in 0 .. 2 {
      roles {
        role load threads 32 registers 40 {
          tile fma.avx2 {
            vector for j in 0 .. 8 {
              s: C[8*b + j] sum= A[b] * A[8*b + j]
            }
          }
        }
        role work threads 128 registers 200 {
          block.x for t in 0 .. 8 {
            copy: C[8*b + t] = A[8*b + t]
          }
        }
      }
    }
  }
}
)";

inline constexpr std::pair<std::string_view, std::string_view> kNests[] = {
    {"matmul", kTiledMatmul}, {"everything", kEverything}, {"specialized", kSpecialized}};

}  // namespace tunec::test
