#include "bench/kernels/nests.h"

#include <fmt/format.h>

namespace tunec::bench {
namespace {

std::string Replace(std::string text,
                    const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [from, to] : words)
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

std::string Number(int value) { return std::to_string(value); }

}  // namespace

namespace {

/// Returns the loops of a tile of `rows` rows that starts at the row `row`.
std::string GemmTile(const std::string& row, int rows) {
  return Replace(R"(
          alloc acc: register {
            if (0 - kb >= 0) {
              unrolled for i in 0 .. $ROWS {
                vector for j in 0 .. $NR {
                  init: acc[i, j] = 0.0
                }
              }
            }
            if (kb - 1 >= 0) {
              unrolled for i in 0 .. $ROWS {
                vector for j in 0 .. $NR {
                  load: acc[i, j] = C[$FIRST + i, $NR*jt + j]
                }
              }
            }
            for k in $KC*kb .. min($K, $KC*kb + $KC) unroll $UNROLL {
              unrolled for i in 0 .. $ROWS {
                vector for j in 0 .. $NR {
                  mac: acc[i, j] sum= A[$FIRST + i, k] * B[k, $NR*jt + j]
                }
              }
            }
            unrolled for i in 0 .. $ROWS {
              vector for j in 0 .. $NR {
                store: C[$FIRST + i, $NR*jt + j] = acc[i, j]
              }
            }
          }
)",
                 {{"$FIRST", row}, {"$ROWS", Number(rows)}});
}

}  // namespace

std::string GemmNest(int m, int n, int k, int mr, int nr, int kc, int unroll) {
  const std::string rest = m % mr == 0 ? "" : GemmTile(Number(m / mr * mr), m % mr);
  return Replace(R"(
nest gemm {
  input A: f32[$M, $K] align 64
  weight B: f32[$K, $N] layout [$PANELS, $K, $NR] (i, j) -> [floor(j/$NR), i, j mod $NR] align 64
  output C: f32[$M, $N] align 64
  local acc: f32[$MR, $NR]
  phase main {
    parallel for jt in 0 .. $PANELS {
      for kb in 0 .. $KBLOCKS {
        for it in 0 .. $TILES {
)" + GemmTile("$MR*it", mr) +
                     "}\n" + rest + R"(
      }
    }
  }
})",
                 {{"$MR", Number(mr)},
                  {"$NR", Number(nr)},
                  {"$KC", Number(kc)},
                  {"$PANELS", Number(n / nr)},
                  {"$KBLOCKS", Number((k + kc - 1) / kc)},
                  {"$TILES", Number(m / mr)},
                  {"$UNROLL", Number(unroll)},
                  {"$M", Number(m)},
                  {"$N", Number(n)},
                  {"$K", Number(k)}});
}

std::string ConvNest(int height, int width, int channels, int filters, int ow_tile, int oc_tile) {
  return Replace(R"(
nest conv {
  input X: f32[$IH, $IW, $C] align 64
  weight F: f32[3, 3, $C, $O] layout [$OTILES, 3, 3, $C, $OT] (i, j, k, l) -> [floor(l/$OT), i, j, k, l mod $OT] align 64
  output Y: f32[$H, $W, $O] align 64
  local acc: f32[$WT, $OT]
  phase main {
    parallel for ot in 0 .. $OTILES {
      for oh in 0 .. $H {
        for wt in 0 .. $WTILES {
          alloc acc: register {
            unrolled for w in 0 .. $WT {
              vector for o in 0 .. $OT {
                init: acc[w, o] = 0.0
              }
            }
            for kh in 0 .. 3 {
              for kw in 0 .. 3 {
                for c in 0 .. $C unroll 4 {
                  unrolled for w in 0 .. $WT {
                    vector for o in 0 .. $OT {
                      mac: acc[w, o] sum= X[oh + kh, $WT*wt + w + kw, c] * F[kh, kw, c, $OT*ot + o]
                    }
                  }
                }
              }
            }
            unrolled for w in 0 .. $WT {
              vector for o in 0 .. $OT {
                store: Y[oh, $WT*wt + w, $OT*ot + o] = max(acc[w, o], 0.0)
              }
            }
          }
        }
      }
    }
  }
})",
                 {{"$IH", Number(height + 2)},
                  {"$IW", Number(width + 2)},
                  {"$OTILES", Number(filters / oc_tile)},
                  {"$WTILES", Number(width / ow_tile)},
                  {"$OT", Number(oc_tile)},
                  {"$WT", Number(ow_tile)},
                  {"$H", Number(height)},
                  {"$W", Number(width)},
                  {"$C", Number(channels)},
                  {"$O", Number(filters)}});
}

std::string SoftmaxNest(int rows, int columns) {
  return Replace(R"(
nest softmax {
  input X: f32[$R, $C]
  output Y: f32[$R, $C]
  local m: f32[1]
  local s: f32[1]
  local r: f32[1]
  phase main {
    parallel for i in 0 .. $R {
      alloc m: register {
        alloc s: register {
          alloc r: register {
            im: m[0] = -inf
            vector for j in 0 .. $C {
              rm: m[0] max= X[i, j]
            }
            is: s[0] = 0.0
            vector for j in 0 .. $C {
              e: Y[i, j] = exp(X[i, j] - m[0])
              rs: s[0] sum= Y[i, j]
            }
            inverse: r[0] = 1.0 / s[0]
            vector for j in 0 .. $C {
              n: Y[i, j] = Y[i, j] * r[0]
            }
          }
        }
      }
    }
  }
})",
                 {{"$R", Number(rows)}, {"$C", Number(columns)}});
}

std::string MapNest(int elements, const std::string& expression) {
  return Replace(R"(
nest map {
  input A: f32[$N]
  output B: f32[$N]
  phase main {
    vector for i in 0 .. $N {
      s: B[i] = $E
    }
  }
})",
                 {{"$N", Number(elements)}, {"$E", expression}});
}

std::vector<KernelBench> KernelBenches(int vector_bits) {
  std::vector<KernelBench> benches;
  const double cube = 2.0 * 512 * 512 * 512;
  if (vector_bits == 512) {
    for (const auto& [mr, nr] : {std::pair{14, 32}, {12, 32}, {8, 48}, {7, 64}, {6, 64}})
      if (nr != 48)
        benches.push_back(
            {fmt::format("gemm 512 {}x{}", mr, nr), GemmNest(512, 512, 512, mr, nr, 512, 4), cube});
    benches.push_back({"gemm 512 14x32 kc256", GemmNest(512, 512, 512, 14, 32, 256, 4), cube});
    benches.push_back(
        {"gemm 504 14x32", GemmNest(504, 512, 512, 14, 32, 512, 4), 2.0 * 504 * 512 * 512});
    benches.push_back({"conv 3x3 64-64 56^2 14x32", ConvNest(56, 56, 64, 64, 14, 32),
                       2.0 * 56 * 56 * 64 * 64 * 9});
    benches.push_back(
        {"conv 3x3 64-64 56^2 7x64", ConvNest(56, 56, 64, 64, 7, 64), 2.0 * 56 * 56 * 64 * 64 * 9});
  }
  benches.push_back({"gemm 512 6x16", GemmNest(512, 512, 512, 6, 16, 512, 4), cube});
  benches.push_back({"gemm 512 4x16", GemmNest(512, 512, 512, 4, 16, 512, 4), cube});
  benches.push_back({"softmax 64x1024", SoftmaxNest(64, 1024), 64.0 * 1024, WorkUnit::kElements});
  for (const char* function : {"exp", "tanh", "erf", "log", "sin", "sqrt"})
    benches.push_back({fmt::format("map {} 4096", function),
                       MapNest(4096, fmt::format("{}(A[i])", function)), 4096,
                       WorkUnit::kElements});
  benches.push_back({"map copy 4096", MapNest(4096, "A[i]"), 4096, WorkUnit::kElements});
  benches.push_back({"map gelu 4096", MapNest(4096, "A[i] * 0.5 * (1.0 + erf(A[i] * 0.70710678))"),
                     4096, WorkUnit::kElements});
  return benches;
}

}  // namespace tunec::bench
