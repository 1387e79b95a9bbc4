// Programs small enough to interpret thousands of their schedules. random_program.h has more such
// programs.
#pragma once

#include <string>

#include "tests/programs/rows.h"

namespace tunec::test {

inline const std::string kSmallPrograms[] = {
    R"(compute weight_matmul {
  input A: f32[3, 5]
  weight B: f32[7, 5] constant
  output C: f32[3, 7]
  workspace acc: f32[3, 7]
  workspace t: f32[3, 7]
  acc[i: 3, j: 7, k: 5 reduction]:
    acc[i, j] sum= A[i, k] * B[j, k]
  t[i: 3, j: 7]:
    t[i, j] = acc[i, j] + 1.0
  C[i: 3, j: 7]:
    C[i, j] = max(t[i, j], 0.0)
}
)",
    R"(compute convolution {
  input X: f32[2, 5, 6]
  weight W: f32[3, 2, 3, 3] constant
  output Y: f32[3, 5, 6]
  workspace acc: f32[3, 5, 6]
  acc[m: 3, h: 5, w: 6, c: 2 reduction, r: 3 reduction, s: 3 reduction] where h + r - 1 >= 0, 5 - h - r >= 0, w + s - 1 >= 0, 6 - w - s >= 0:
    acc[m, h, w] sum= X[c, h + r - 1, w + s - 1] * W[m, c, r, s]
  Y[m: 3, h: 5, w: 6]:
    Y[m, h, w] = acc[m, h, w] * 0.5
}
)",
    R"(compute pool {
  input X: f32[3, 9]
  output Y: f32[3, 5]
  workspace acc: f32[3, 5]
  acc[c: 3, o: 5, r: 3 reduction]:
    acc[c, o] max= (X[c, 2*o + r - 1] where (2*o + r - 1 >= 0, 9 - 2*o - r >= 0) else -inf)
  Y[c: 3, o: 5]:
    Y[c, o] = acc[c, o]
}
)",
    R"(compute reads_nothing {
  output Y: f32[3]
  output Z: f32[3, 4]
  workspace acc: f32[3]
  acc[j: 3, k: 5 reduction]:
    acc[j] sum= index_f32(j + k) * index_f32(k)
  Y[j: 3]:
    Y[j] = acc[j] * 2.0
  Z[j: 3, k: 4]:
    Z[j, k] = index_f32(j) * 0.5 + index_f32(k)
}
)",
    R"(compute one_row {
  input X: f32[1, 7]
  output Y: f32[1, 7]
  workspace m: f32[1]
  m[i: 1, j: 7 reduction]:
    m[i] sum= X[i, j]
  Y[i: 1, j: 7]:
    Y[i, j] = X[i, j] - m[i]
}
)",
    R"(compute smooth {
  input X: f32[5, 9]
  output Y: f32[5, 9]
  workspace t: f32[5, 9]
  t[i: 5, j: 9]:
    t[i, j] = X[i, j] * 0.5
  Y[i: 5, j: 9]:
    Y[i, j] = (t[i, j - 1] where (j - 1 >= 0) else 0.0) + t[i, j] + (t[i, j + 1] where (7 - j >= 0) else 0.0)
}
)",
    R"(compute scan {
  input X: f32[3, 9]
  output Y: f32[3, 9]
  workspace t: f32[3, 9]
  t[b: 3, i: 9 sequential]:
    t[b, i] = (t[b, i - 1] where (i - 1 >= 0) else 0.0) + X[b, i]
  Y[b: 3, i: 9]:
    Y[b, i] = t[b, i] * 2.0
}
)",
    R"(compute grouped {
  input X: f32[6, 5]
  weight W: f32[4, 3] constant
  output Y: f32[4, 5]
  workspace acc: f32[4, 5]
  acc[g: 2, m: 2, p: 5, c: 3 reduction]:
    acc[2*g + m, p] sum= X[3*g + c, p] * W[2*g + m, c]
  Y[m: 4, p: 5]:
    Y[m, p] = acc[m, p]
}
)",
    R"(compute gather_transpose {
  input T: f32[6, 4]
  input I: i64[7] range [0, 5]
  output Y: f32[4, 7]
  workspace g: f32[7, 4]
  g[i: 7, j: 4]:
    g[i, j] = T[@(I[i]), j]
  Y[j: 4, i: 7]:
    Y[j, i] = g[i, j] + 1.0
}
)",
    ArgMaxText(3, 8),
    R"(compute blocked {
  input X: f32[5, 7] layout [5, 2, 4] (i, j) -> [i, floor(j/4), j mod 4]
  output Y: f32[5, 7] layout [5, 2, 4] (i, j) -> [i, floor(j/4), j mod 4]
  workspace t: f32[5, 7]
  t[i: 5, j: 7]:
    t[i, j] = X[i, j] + index_f32(j)
  Y[i: 5, j: 7]:
    Y[i, j] = t[i, 6 - j]
}
)",
};

}  // namespace tunec::test
