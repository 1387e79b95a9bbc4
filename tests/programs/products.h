// Functions that return texts of matrix products, of any sizes, types and orders in memory.
#pragma once

#include <cstdint>
#include <string>

namespace tunec::test {

struct ProductOperand {
  std::string type = "f32";
  std::string index = {};   // iterators of its element, such as "k, i"; empty: "i, k" or "k, j"
  std::string weight = {};  // attributes of a weight, such as "constant"; empty: an input
};

/// The parameters of a program that sums products of elements of A and B over k.
struct MatrixProduct {
  int64_t rows = 37;
  int64_t columns = 13;
  int64_t length = 29;
  int64_t batch = 0;  // matrices along the iterator h; 0: there is no such iterator
  ProductOperand left = {};
  ProductOperand right = {};
  std::string sum = "f32";     // type of the sums
  std::string result = "f32";  // type of the output
  std::string bias = {};       // "input" or "weight" for b[j] of float32; empty: none
  /// The value of an element of the output C. If empty, the sums are the output's elements.
  std::string value = "max(acc[i, j], 0.0)";
};

/// Returns the text. The statement `acc` sums. The statement `C` exists unless `value` is empty.
std::string ProductText(const MatrixProduct& product);
/// Returns a dense layer: a product with a constant matrix, a constant bias and relu.
std::string DenseLayerText(int64_t rows, int64_t columns, int64_t length);
/// Returns a batch of products of inputs, with B transposed, stored directly into the output.
std::string BatchedProductText(int64_t batch, int64_t rows, int64_t columns, int64_t length);
/// Returns a product of float16 matrices, of which B is constant, with float32 sums.
std::string HalfProductText(int64_t rows, int64_t columns, int64_t length);

}  // namespace tunec::test
