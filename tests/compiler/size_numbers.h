// Small ONNX models that compute numbers from a dynamic length, with the expected results.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph/onnx/onnx_model.h"

namespace tunec::testing {

inline constexpr int64_t kWidth = 3;

/// A number r, i64[1], that a model computes from its length n, i64[1]. `add` adds the nodes, and
/// `of` computes the expected r from n.
struct Number {
  std::string name;
  std::function<void(onnx_test::Model&)> add;
  std::function<int64_t(int64_t)> of;
};
void PrintTo(const Number& number, std::ostream* out);

/// A use of the number r with the input x, f32[n, kWidth]. All elements of row i of x are i. `add`
/// adds the nodes, and `first_column` computes the expected first column of the output.
struct Use {
  std::string name;
  std::function<void(onnx_test::Model&)> add;
  std::function<std::vector<double>(int64_t n, int64_t r)> first_column;
};
void PrintTo(const Use& use, std::ostream* out);

Number Remainder(int64_t m);
Number HalfOf();
Number IsOne(int64_t length);
Use Added();
Use SlicedFrom();

/// Returns pairs of a number and a use of the number.
std::vector<std::pair<Number, Use>> AllNumbers();

/// Returns the bytes of the ONNX model with the number and its use. Axis 0 of x is named length.
std::string BytesOf(const Number& number, const Use& use);

}  // namespace tunec::testing
