#include "tests/programs/rows.h"

#include <fmt/format.h>

namespace tunec::test {

std::string SoftmaxText(int64_t rows, int64_t length) {
  return fmt::format(R"(compute softmax {{
  input X: f32[{0}, {1}]
  output Y: f32[{0}, {1}]
  workspace m: f32[{0}]
  workspace e: f32[{0}, {1}]
  workspace s: f32[{0}]
  m[i: {0}, j: {1} reduction]:
    m[i] max= X[i, j]
  e[i: {0}, j: {1}]:
    e[i, j] = exp(X[i, j] - m[i])
  s[i: {0}, j: {1} reduction]:
    s[i] sum= e[i, j]
  Y[i: {0}, j: {1}]:
    Y[i, j] = e[i, j] / s[i]
}}
)",
                     rows, length);
}

std::string ArgMaxText(int64_t rows, int64_t length) {
  return fmt::format(R"(compute argmax {{
  input X: f32[{0}, {1}]
  output V: f32[{0}]
  output P: i64[{0}] range [0, {2}]
  S[i: {0}, k: {1} reduction]:
    (V[i], P[i]) argmax= (X[i, k], index_i64(k))
}}
)",
                     rows, length, length - 1);
}

std::string GatherText(int64_t count, int64_t rows, int64_t length, const std::string& index) {
  return fmt::format(R"(compute gather {{
  input T: f32[{1}, {2}]
  input I: {3}[{0}] range [0, {4}]
  output Y: f32[{0}, {2}]
  Y[i: {0}, j: {2}]:
    Y[i, j] = T[@(I[i]), j] * 2.0
}}
)",
                     count, rows, length, index, rows - 1);
}

std::string ColumnSumsText(int64_t rows, int64_t columns) {
  return fmt::format(R"(compute columns {{
  input A: f32[{0}, {1}]
  output C: f32[{1}]
  s[j: {1}, i: {0} reduction]:
    C[j] sum= A[i, j]
}}
)",
                     rows, columns);
}

std::string TransposedText(int64_t rows, int64_t columns) {
  return fmt::format(R"(compute turned {{
  input A: f32[{1}, {0}]
  output C: f32[{0}, {1}]
  C[i: {0}, j: {1}]:
    C[i, j] = A[j, i]
}}
)",
                     rows, columns);
}

std::string HalfBroadcastText(int64_t rows, int64_t columns) {
  return fmt::format(R"(compute broadcast {{
  input A: bf16[{0}, {1}]
  input b: bf16[{1}]
  output C: bf16[{0}, {1}]
  C[i: {0}, j: {1}]:
    C[i, j] = bf16(f32(A[i, j]) + f32(b[j]))
}}
)",
                     rows, columns);
}

}  // namespace tunec::test
