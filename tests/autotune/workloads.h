// Small computes, workloads, tasks and schedules that several tests use.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autotune/measure/measurement.h"
#include "autotune/task.h"
#include "ir/compute.h"
#include "jit/cpu/detect_cpu.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"

namespace tunec::testing {

/// Returns the product of a 37x29 and a 29x13 matrix, with a bias and relu. The extents are primes,
/// so that usual tiles do not divide them.
inline Compute MatmulRelu() { return test::MustParse(test::DenseLayerText(37, 13, 29)); }

/// Returns a product whose results are clamped and rounded to multiples of 1/512. The second output
/// has the rounded multiples (results times 512) as int16.
inline Compute QuantisedMatmul() {
  return test::MustParse(R"(
    compute quantised_matmul {
      input A: f32[64, 300]
      weight B: f32[300, 64] constant
      output C: f32[64, 64]
      output Q: i16[64, 64]
      workspace t: f32[64, 64]
      acc[i: 64, j: 64, k: 300 reduction]:
        t[i, j] sum= A[i, k] * B[k, j]
      out[i: 64, j: 64]:
        C[i, j] = round(min(max(t[i, j] * 512.0, -32768.0), 32767.0)) * 0.001953125
      levels[i: 64, j: 64]:
        Q[i, j] = i16(min(max(round(t[i, j] * 512.0), -32768.0), 32767.0))
    })");
}

inline Compute SoftmaxRows() {
  return test::MustParse(R"(
    compute softmax {
      input X: f32[5, 23]
      output Y: f32[5, 23]
      workspace m: f32[5]
      workspace s: f32[5]
      top[i: 5, j: 23 reduction]:
        m[i] max= X[i, j]
      total[i: 5, j: 23 reduction]:
        s[i] sum= exp(X[i, j] - m[i])
      out[i: 5, j: 23]:
        Y[i, j] = exp(X[i, j] - m[i]) / s[i]
    })");
}

inline Workload WorkloadOf(const Compute& compute, int threads = 2) {
  return {.lowerings = {{"direct", compute}}, .target = DetectCpu(threads), .seed = 7};
}

inline TuningTask TaskOf(const Compute& compute, double weight = 1) {
  return {.kind = "matmul",
          .description = "matmul 37x29x13 bias relu",
          .lowerings = {{"direct", compute}},
          .weight = weight};
}

/// A legal schedule of MatmulRelu and an illegal one.
inline constexpr const char* kGoodSchedule = R"(lower direct
parallelize acc.i
parallelize C.i
vectorize C.j
)";
inline constexpr const char* kIllegalSchedule = R"(lower direct
reorder acc.k acc.i acc.j
parallelize acc.k
)";

}  // namespace tunec::testing
