// Tests of compiled loops, conditions and storage, most of them against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jit/cpu/detect_cpu.h"
#include "tests/jit/nest_runner.h"

namespace tunec::jit_test {
namespace {

TEST(Loops, SerialMatmulInMemory) {
  ExpectAsInterpreted(R"(
nest mm {
  input A: f32[37, 13]
  input B: f32[13, 29]
  output C: f32[37, 29]
  phase main {
    for i in 0 .. 37 {
      for j in 0 .. 29 {
        init: C[i, j] = 0.0
        for k in 0 .. 13 unroll 4 {
          mac: C[i, j] sum= A[i, k] * B[k, j]
        }
      }
    }
  }
})");
}

// The bounds that depend on t differ by thousands. The bounds 0 and 8 limit the loop to eight
// copies.
TEST(Loops, UnrolledWithinConstantsAndOtherBounds) {
  ExpectAsInterpreted(R"(
nest slanted {
  input A: f32[6000, 8]
  output C: f32[6000, 8]
  phase main {
    for t in 0 .. 6000 {
      for j in 0 .. 8 { init: C[t, j] = 0.5 }
      unrolled for i in max(0, 5995 - t) .. min(8, t - 2) { s: C[t, i] = A[t, i] + 1.0 }
    }
  }
})");
}

TEST(Loops, ParallelTasksAndParts) {
  ExpectAsInterpreted(R"(
nest tasks {
  input A: f32[6, 7, 5]
  output B: f32[6, 7, 5]
  output C: f32[11]
  output D: f32[5]
  phase main {
    parallel for i in 0 .. 6 {
      parallel for j in 0 .. 7 {
        for k in 0 .. 5 { s: B[i, j, k] = A[i, j, k] + 1.0 }
      }
    }
    parallel for c in 0 .. 11 { t: C[c] = A[0, 0, 0] * 2.0 }
    for d in 0 .. 5 { u: D[d] = A[5, 6, d] }
  }
})");
}

TEST(Loops, VectorWithConstantTail) {
  ExpectAsInterpreted(R"(
nest add {
  input A: f32[37, 29]
  input B: f32[29]
  output C: f32[37, 29]
  phase main {
    parallel for i in 0 .. 37 {
      vector for j in 0 .. 29 { s: C[i, j] = A[i, j] * 2.0 + B[j] }
    }
  }
})");
}

// Each row has a remainder of one or two lanes of a narrow type. The next row, if there is one, was
// written before.
TEST(Loops, TailOfOneLaneWritesOneElement) {
  for (const char* type : {"bf16", "f16", "i8", "i16", "u8"}) {
    for (const int columns : {17, 33, 18}) {
      ExpectAsInterpreted(fmt::format(R"(
nest tail {{
  input A: f32[5, {1}]
  output C: {0}[5, {1}]
  phase go {{
    for i in 0 .. 5 {{
      vector for j in 0 .. {1} {{
        s: C[4 - i, j] = {0}(A[4 - i, j])
      }}
    }}
  }}
}}
)",
                                      type, columns));
    }
  }
}

TEST(Loops, LongVectorLoopIsALoopOverChunks) {
  for (const char* n : {"1", "15", "16", "64", "65", "100", "333", "1000"}) {
    std::string text = R"(
nest add {
  input A: f32[@]
  output C: f32[@]
  phase main { vector for j in 0 .. @ { s: C[j] = A[j] * A[j] - 1.0 } }
})";
    for (size_t at = text.find('@'); at != std::string::npos; at = text.find('@'))
      text.replace(at, 1, n);
    ExpectAsInterpreted(text);
  }
}

TEST(Loops, RunTimeBounds) {
  ExpectAsInterpreted(R"(
nest tri {
  input A: f32[37, 37]
  output C: f32[37, 37]
  phase main {
    for i in 0 .. 37 {
      for z in 0 .. 37 { zero: C[i, z] = 0.0 }
      vector for j in max(0, i - 20) .. min(37, i + 1) { s: C[i, j] = A[i, j] * 3.0 }
    }
  }
})");
}

// The two lanes read A[0] and A[2]. Two lanes do not count as alternate lanes of two rows, because
// each row would have a single lane.
TEST(Loops, TwoLanesOfTwoRows) {
  ExpectAsInterpreted(R"(
nest nearest {
  input A: f32[3]
  output C: f32[2]
  phase main {
    vector for i in 0 .. 2 { s: C[i] = A[i + floor((i + 1)/2)] }
  }
})");
}

// Blocks in transposed order are loaded as rows and transposed in registers.
TEST(Loops, TransposedBlocks) {
  for (const char* type : {"f32", "f64", "f16", "u8", "i64"}) {
    ExpectAsInterpreted(fmt::format(R"(
nest turn {{
  input A: {0}[48, 50]
  input B: {0}[64, 3, 40]
  output C: {0}[29, 32]
  output D: {0}[40, 64]
  phase main {{
    for jt in 0 .. 2 {{
      unrolled for i in 0 .. 29 {{
        vector for j in 0 .. 16 {{
          s: C[i, 16*jt + j] = A[16*jt + j, i + 2] + A[16*jt + j, i]
        }}
      }}
    }}
    for it in 0 .. 2 {{
      unrolled for i in 0 .. min(32, 40 - 32*it) {{
        vector for j in 0 .. 64 {{ t: D[32*it + i, j] = B[j, 1, 32*it + i] }}
      }}
    }}
  }}
}})",
                                    type));
  }
}

// In unrolled loops, an element whose `where` is false is outside of A and must not be read.
TEST(Loops, TransposedUnderConditions) {
  ExpectAsInterpreted(R"(
nest turn {
  input A: f32[16, 20]
  output C: f32[20, 16]
  phase main {
    for z in 0 .. 20 { vector for y in 0 .. 16 { zero: C[z, y] = 0.0 } }
  }
  phase turned {
    for k in 0 .. 21 {
      unrolled for i in 0 .. 20 {
        vector for j in 0 .. 16 {
          if (k - i - 1 >= 0) { s: C[i, j] = A[j, i] }
        }
      }
      unrolled for p in 0 .. min(20, k) {
        vector for q in 0 .. 16 { t: C[p, q] = A[q, p] + 1.0 }
      }
      unrolled for u in 0 .. 20 {
        vector for v in 0 .. 16 {
          w: C[u, v] = (A[v, u + k - 10] where (u + k - 10 >= 0, 29 - u - k >= 0) else 7.0) + C[u, v]
        }
      }
    }
  }
})");
}

// Even lanes read one row, and odd lanes another row or the same row, forwards or backwards.
TEST(Loops, TwoRowsInTurns) {
  for (const char* type : {"f32", "f64", "bf16", "u8", "i64"}) {
    ExpectAsInterpreted(fmt::format(R"(
nest pairs {{
  input A: {0}[7, 40]
  output C: {0}[3, 32, 2]
  output D: {0}[80]
  output E: {0}[9]
  phase main {{
    for i in 0 .. 3 {{
      vector for j in 0 .. 64 {{
        s: C[i, floor(j/2), j mod 2] = A[2*i + (j mod 2), floor(j/2) + 3]
      }}
    }}
    vector for k in 0 .. 80 {{ t: D[k] = A[4, floor(k/2)] + A[6 - 3*(k mod 2), 39 - floor(k/2)] }}
    vector for m in 0 .. 9 {{ u: E[m] = A[m mod 2, floor(m/2)] }}
  }}
}})",
                                    type));
  }
}

// The row after the last one of A is not read.
TEST(Loops, TwoRowsUnderConditions) {
  ExpectAsInterpreted(R"(
nest pairs {
  input A: f32[5, 16]
  output C: f32[3, 16, 2]
  phase main {
    for i in 0 .. 3 {
      vector for j in 0 .. 32 {
        s: C[i, floor(j/2), j mod 2] = A[2*i + (j mod 2), floor(j/2)] where (4 - 2*i - (j mod 2) >= 0) else 0.5
      }
    }
  }
})");
}

TEST(Loops, EmptyRanges) {
  ExpectAsInterpreted(R"(
nest empty {
  input A: f32[8]
  output C: f32[8]
  phase main {
    for i in 0 .. 8 {
      s: C[i] = 1.0
      for k in i + 5 .. 7 unroll 3 { t: C[i] sum= A[k] }
      vector for v in i + 5 .. 7 { w: C[i] sum= A[v] }
    }
  }
})");
}

TEST(Loops, BlockedTilesWithMinima) {
  ExpectAsInterpreted(R"(
nest blocked {
  input A: f32[37, 29]
  output C: f32[37, 29]
  phase main {
    parallel for it in 0 .. 3 {
      for jt in 0 .. 2 {
        unrolled for i in 0 .. min(14, 37 - 14*it) {
          vector for j in 0 .. min(16, 29 - 16*jt) {
            s: C[14*it + i, 16*jt + j] = A[14*it + i, 16*jt + j] + 1.0
          }
        }
      }
    }
  }
})");
}

TEST(Registers, TiledMatmul) {
  ExpectAsInterpreted(R"(
nest mm {
  input A: f32[37, 13]
  input B: f32[13, 29]
  output C: f32[37, 29]
  local acc: f32[8, 29]
  phase main {
    parallel for it in 0 .. 5 {
      alloc acc: register {
        unrolled for i in 0 .. min(8, 37 - 8*it) {
          vector for j in 0 .. 29 { init: acc[i, j] = 0.0 }
        }
        for k in 0 .. 13 unroll 4 {
          unrolled for i in 0 .. min(8, 37 - 8*it) {
            vector for j in 0 .. 29 { mac: acc[i, j] sum= A[8*it + i, k] * B[k, j] }
          }
        }
        unrolled for i in 0 .. min(8, 37 - 8*it) {
          vector for j in 0 .. 29 { out: C[8*it + i, j] = max(acc[i, j], 0.0) }
        }
      }
    }
  }
})");
}

TEST(Registers, MixedScalarAndShiftedVectorAccess) {
  ExpectAsInterpreted(R"(
nest mixed {
  input A: f32[64]
  output C: f32[64]
  local r: f32[2, 40]
  phase main {
    alloc r: register {
      vector for j in 0 .. 40 { a: r[0, j] = A[j] }
      vector for j in 0 .. 35 { b: r[1, j + 5] = A[j] * 2.0 }
      unrolled for u in 0 .. 5 { c: r[1, u] = r[0, u + 17] }
      vector for j in 0 .. 37 { d: C[j] = r[0, j + 3] + r[1, j] }
      unrolled for u in 37 .. 64 { e: C[u] = r[1, 3] + r[0, 39] }
    }
  }
})");
}

// The lanes after an access's last lane may be used by another access of the same storage.
TEST(Registers, LanesThatOthersTouchAreKept) {
  ExpectAsInterpreted(R"(
nest kept {
  input A: f32[64]
  output C: f32[64]
  local r: f32[40]
  phase main {
    alloc r: register {
      vector for j in 0 .. 32 { a: r[j] = A[j] * 3.0 }
      for k in 0 .. 3 {
        vector for j in 0 .. 24 { b: r[j] sum= A[j + k] }
      }
      vector for j in 0 .. 32 { c: C[j] = r[j] }
    }
    alloc r: register {
      vector for j in 0 .. 21 { d: r[j] = A[j] }
      unrolled for u in 0 .. 2 { e: r[u + 20] = A[u] }
      vector for j in 0 .. 19 { f: r[j] sum= A[j + 1] }
      vector for j in 0 .. 22 { g: C[j + 32] = r[j] }
    }
    unrolled for u in 54 .. 64 { h: C[u] = 0.0 }
  }
})");
}

// The number of lanes that run is not a constant. The element gets the value of the last of these
// lanes, if there is one.
TEST(Registers, OneElementGetsTheValueOfTheLastRunningLane) {
  ExpectAsInterpreted(R"(
nest last {
  input A: f32[16]
  output C: f32[20]
  local r: f32[4]
  phase main {
    alloc r: register {
      unrolled for u in 0 .. 4 { a: r[u] = A[u + 8] }
      for n in 0 .. 20 {
        vector for j in 0 .. min(8, 17 - n) { b: r[2] = A[j] }
        c: C[n] = r[2]
      }
    }
  }
})");
}

TEST(Registers, MoreThanRegistersCanHoldLieOnTheStack) {
  ExpectAsInterpreted(R"(
nest stack {
  input A: f32[9000]
  output C: f32[9000]
  local r: f32[9000]
  phase main {
    alloc r: register {
      vector for j in 0 .. 9000 { a: r[j] = A[j] * 3.0 }
      vector for j in 0 .. 9000 { b: C[j] = r[j] + 1.0 }
    }
  }
})");
}

// In the first tile, the loops over the rows of r are not unrolled, so the row index is not
// constant. In the other tiles they are unrolled.
TEST(Registers, OnePartThatIndexesThemByALoopPutsThemOnTheStack) {
  ExpectAsInterpreted(R"(
nest parts {
  input A: f32[12, 17]
  output C: f32[12, 17]
  local r: f32[4, 17]
  phase main {
    for it in 0 .. 1 {
      alloc r: register {
        for i in it .. min(4, 9*it + 4) {
          vector for j in 0 .. 17 { a: r[i, j] = A[4*it + i, j] * 3.0 }
        }
        for i in it .. min(4, 9*it + 4) {
          vector for j in 0 .. 17 { b: C[4*it + i, j] = r[i, j] + 1.0 }
        }
      }
    }
    for it in 1 .. 3 {
      alloc r: register {
        unrolled for i in 0 .. 4 {
          vector for j in 0 .. 17 { a: r[i, j] = A[4*it + i, j] * 3.0 }
        }
        unrolled for i in 0 .. 4 {
          vector for j in 0 .. 17 { b: C[4*it + i, j] = r[i, j] + 1.0 }
        }
      }
    }
  }
})");
}

TEST(Registers, SingleLaneThatMayNotRun) {
  ExpectAsInterpreted(R"(
nest single {
  input A: f32[9]
  output C: f32[9]
  local r: f32[1]
  phase main {
    for i in 0 .. 9 {
      alloc r: register {
        z: r[0] = 5.0
        vector for j in 0 .. min(1, 6 - i) { a: r[j] = A[i + j] }
        c: C[i] = r[0]
      }
    }
  }
})");
}

TEST(Storage, WorkspaceScratchAndLayouts) {
  ExpectAsInterpreted(R"(
nest packed {
  input A: f32[37, 13]
  weight B: f32[13, 29] layout [2, 13, 16] (i, j) -> [floor(j/16), i, j mod 16]
  output C: f32[37, 29]
  workspace W: f32[37, 13]
  local P: f32[13]
  phase copy {
    parallel for i in 0 .. 37 { vector for k in 0 .. 13 { c: W[i, k] = A[i, k] * 0.5 } }
  }
  phase main {
    parallel for i in 0 .. 37 {
      alloc P: packed {
        vector for k in 0 .. 13 { p: P[k] = W[i, k] }
        for jt in 0 .. 2 {
          vector for j in 0 .. min(16, 29 - 16*jt) { init: C[i, 16*jt + j] = 0.0 }
          for k in 0 .. 13 {
            vector for j in 0 .. min(16, 29 - 16*jt) { mac: C[i, 16*jt + j] sum= P[k] * B[k, 16*jt + j] }
          }
        }
      }
    }
  }
})");
}

TEST(Access, GuardedReads) {
  ExpectAsInterpreted(R"(
nest pad {
  input A: f32[9, 21]
  output C: f32[11, 23]
  phase main {
    for i in 0 .. 11 {
      vector for j in 0 .. 23 {
        s: C[i, j] = (A[i - 1, j - 1] where (i - 1 >= 0, 9 - i >= 0, j - 1 >= 0, 21 - j >= 0) else -7.5) + 1.0
      }
    }
  }
})");
}

TEST(Access, StridesReversalsGathersAndScatters) {
  ExpectAsInterpreted(R"(
nest strides {
  input A: f32[200]
  input X: i64[29] range [0, 199]
  output C: f32[29]
  output D: f32[29]
  output E: f32[29]
  output F: f32[29]
  output G: f32[87]
  output H: f32[29]
  phase main {
    for z in 0 .. 87 { zero: G[z] = 0.0 }
  }
  phase rest {
    vector for j in 0 .. 29 { c: C[j] = A[2*j + 1] }
    vector for j in 0 .. 29 { d: D[j] = A[28 - j] }
    vector for j in 0 .. 29 { e: E[j] = A[5*j] }
    vector for j in 0 .. 29 { f: F[j] = A[@(X[j])] }
    vector for j in 0 .. 29 { g: G[3*j + 1] = A[j] }
    vector for j in 0 .. 29 { h: H[j] = A[floor(j/3) + 2*(j mod 7)] }
  }
})");
}

// Each lane writes in the lane's column. The row is a loaded index.
TEST(Access, ScatteredLanes) {
  ExpectAsInterpreted(R"(nest scatter {
  input A: f32[7, 29]
  input P: i64[7, 29] range [0, 4]
  input R: i32[7] range [0, 4]
  output C: f32[5, 29]
  output D: bf16[5, 29]
  phase clear {
    for i in 0 .. 5 {
      vector for j in 0 .. 29 { c: C[i, j] = 0.5 }
      vector for k in 0 .. 29 { d: D[i, k] = 0.5bf16 }
    }
  }
  phase main {
    for u in 0 .. 7 {
      vector for l in 0 .. 29 { s: C[@(P[u, l]), l] = C[@(P[u, l]), l] + A[u, l] }
      vector for m in 0 .. 29 { t: D[@(R[u]), m] = bf16(max(f32(D[@(R[u]), m]), A[u, m])) }
    }
  }
})");
}

TEST(Access, ConditionOnLanes) {
  ExpectAsInterpreted(R"(
nest lanes {
  input A: f32[37]
  output C: f32[37]
  local r: f32[37]
  phase main {
    alloc r: register {
      vector for j in 0 .. 37 {
        a: r[j] = 1.0
        if (j - 5 >= 0, 30 - j >= 0) { b: r[j] = A[j] }
        c: C[j] = r[j] + 1.0
      }
      vector for j in 0 .. 37 {
        if (20 - j >= 0) { d: C[j] sum= A[j] }
      }
    }
  }
})");
}

TEST(Reductions, Horizontal) {
  ExpectAsInterpreted(R"(
nest reduce {
  input A: f32[5, 333]
  input B: f32[333]
  output S: f32[5]
  output M: f32[5]
  output D: f32[5]
  output P: f32[5]
  output V: f32[5]
  output I: i64[5]
  phase main {
    parallel for i in 0 .. 5 {
      a: S[i] = 0.0
      b: M[i] = -inf
      c: D[i] = 0.0
      d: P[i] = 1.0
      e: V[i] = -inf
      f: I[i] = 0i64
      vector for j in 0 .. 333 { sum: S[i] sum= A[i, j] }
      vector for j in 0 .. 333 { max: M[i] max= A[i, j] }
      vector for j in 0 .. 333 { dot: D[i] sum= A[i, j] * B[j] }
      vector for j in 0 .. 29 { prod: P[i] product= A[i, j] }
      vector for j in 0 .. 333 { arg: (V[i], I[i]) argmax= (A[i, j], index_i64(j)) }
    }
  }
})",
                      1e-4);
}

TEST(Reductions, ProductsThatReadNothing) {
  ExpectAsInterpreted(R"(
nest squares {
  output S: f32[4]
  output V: f32[37]
  output H: f32[1]
  output M: f32[3]
  phase main {
    for j in 0 .. 4 {
      a: S[j] = 0.0
      for k in 0 .. 8 { b: S[j] sum= index_f32(j + k) * index_f32(k) }
    }
  }
  phase zero { vector for j in 0 .. 37 { c: V[j] = 0.0 } }
  phase lanes { for k in 0 .. 5 { vector for j in 0 .. 37 { d: V[j] sum= index_f32(j) * 2.0 } } }
  phase first { e: H[0] = 0.0 }
  phase across { vector for k in 0 .. 29 { f: H[0] sum= index_f32(k) * 0.5 } }
  phase cut {
    for j in 0 .. 3 {
      g: M[j] = 0.0
      vector for k in 0 .. min(9, j + 2) { h: M[j] sum= index_f32(k) * index_f32(j) }
    }
  }
})");
}

TEST(Access, PrefetchesChangeNothing) {
  ExpectAsInterpreted(R"(
nest ahead {
  input A: f32[37, 29]
  output C: f32[37, 29]
  phase main {
    for i in 0 .. 37 {
      prefetch A[i, 0] level 2
      prefetch C[i, 0] level 1 write
      vector for j in 0 .. 29 { s: C[i, j] = A[i, j] }
    }
  }
})");
}

// A row of B has two cache lines, which are prefetched once for the four rows of C that use them.
TEST(Access, PrefetchesEachLineOnce) {
  const auto assembly = AssemblyOf(Parse(R"(
nest ahead {
  input A: f32[4, 64]
  input B: f32[64, 32]
  output C: f32[4, 32]
  phase main {
    for k in 0 .. 64 {
      unrolled for i in 0 .. 4 {
        vector for j in 0 .. 32 {
          prefetch B[k + 8, j] level 2
          prefetch A[i, k + 16] level 1
          s: C[i, j] sum= A[i, k] * B[k, j]
        }
      }
    }
  }
})"),
                                   *ParseCpu("skylake-avx512", 1));
  ASSERT_TRUE(assembly) << assembly.error().Format();
  const auto count = [&](std::string_view word) {
    int found = 0;
    for (size_t at = assembly->find(word); at != std::string::npos;
         at = assembly->find(word, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("prefetcht1"), 2) << *assembly;
  EXPECT_EQ(count("prefetcht0"), 4) << *assembly;
}

TEST(Access, InPlaceThroughAnAlias) {
  ExpectAsInterpreted(R"(
nest alias {
  input A: f32[40]
  output C: f32[40]
  workspace W: f32[40]
  workspace V: f32[40] alias W
  phase main {
    vector for j in 0 .. 40 { a: W[j] = A[j] * 2.0 }
  }
  phase again {
    vector for j in 0 .. 40 { b: V[j] = W[j] + 1.0 }
  }
  phase last {
    vector for j in 0 .. 40 { c: C[j] = W[j] + V[j] }
  }
})");
}

TEST(Reductions, SequentialRecurrenceKeepsItsOrder) {
  ExpectAsInterpreted(R"(
nest recurrence {
  input A: f32[37]
  output S: f32[1]
  phase main {
    z: S[0] = 0.0
  }
  phase rest {
    vector for j in 0 .. 37 {
      s: {
        reducer decay identity (0.0) combine (acc0_f32 * 0.5 + new0_f32) sequential
        S[0] decay= A[j]
      }
    }
  }
})");
}

TEST(Contraction, SeparateRoundsTheProduct) {
  const char* nest = R"(
nest exact separate {
  input A: f32[37, 13]
  input B: f32[13]
  output C: f32[37]
  phase main {
    for i in 0 .. 37 {
      z: C[i] = 0.0
      for k in 0 .. 13 { m: C[i] sum= A[i, k] * B[k] }
    }
  }
})";
  ExpectAsInterpreted(nest, 0);
  EXPECT_EQ(AssemblyOf(Parse(nest), DetectCpu(1))->find("vfmadd"), std::string::npos);
}

void ExpectRejected(const std::string& node, const std::string& message) {
  const LoopNest nest = Parse(
      "nest gpu {\n  input A: f32[8]\n  output C: f32[8]\n  local F: f32[8]\n  phase main {\n" +
      node + "\n  }\n}");
  const auto object = CompileNest(nest, DetectCpu(1));
  ASSERT_FALSE(object.has_value());
  EXPECT_EQ(object.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(object.error().message, message);
}

TEST(Errors, WhatACpuHasNot) {
  ExpectRejected("warp for b in 0 .. 8 {\ns: C[b] = 1.0\n}",
                 "loop b over GPU threads cannot be emitted for a cpu");
  ExpectRejected("alloc F: fragment {\ns: F[0] = 1.0\n}",
                 "tensor F has no storage: it needs an alloc of packed or register scope");
  ExpectRejected("alloc F: shared {\ns: F[0] = 1.0\n}",
                 "an alloc of shared scope cannot be emitted for a cpu");
  ExpectRejected("roles {\nrole load threads 32 registers 40 {\ns: C[0] = 1.0\n}\n}",
                 "warp roles cannot be emitted for a cpu");
}

TEST(Errors, TooMuchUnrolling) {
  const LoopNest nest = Parse(R"(
nest huge {
  output C: f32[300, 300]
  phase main {
    unrolled for i in 0 .. 300 {
      unrolled for j in 0 .. 300 { s: C[i, j] = 1.0 }
    }
  }
})");
  const auto object = CompileNest(nest, DetectCpu(1));
  ASSERT_FALSE(object.has_value());
  EXPECT_EQ(object.error().code, ErrorCode::kResourceLimit);
}

}  // namespace
}  // namespace tunec::jit_test
