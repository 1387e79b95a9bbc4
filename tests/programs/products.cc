#include "tests/programs/products.h"

#include <fmt/format.h>

namespace tunec::test {
namespace {

// Returns the shape of a tensor with this index, such as "37, 29" for "i, k".
std::string ShapeOf(const MatrixProduct& product, const std::string& index) {
  std::string shape;
  for (const char iterator : index) {
    switch (iterator) {
      case 'h':
        shape += std::to_string(product.batch);
        break;
      case 'i':
        shape += std::to_string(product.rows);
        break;
      case 'j':
        shape += std::to_string(product.columns);
        break;
      case 'k':
        shape += std::to_string(product.length);
        break;
      default:
        shape += iterator;
    }
  }
  return shape;
}

std::string Declared(const MatrixProduct& product, const std::string& name,
                     const ProductOperand& operand) {
  const bool is_weight = !operand.weight.empty();
  return fmt::format("  {} {}: {}[{}]{}{}\n", is_weight ? "weight" : "input", name, operand.type,
                     ShapeOf(product, operand.index), is_weight ? " " : "", operand.weight);
}

// Returns an element of the operand, as a value of the type of the sums.
std::string Factor(const MatrixProduct& product, const std::string& name,
                   const ProductOperand& operand) {
  const std::string element = name + "[" + operand.index + "]";
  return operand.type == product.sum ? element : product.sum + "(" + element + ")";
}

}  // namespace

std::string ProductText(const MatrixProduct& product) {
  const std::string h = product.batch > 0 ? "h, " : "";
  ProductOperand left = product.left, right = product.right;
  if (left.index.empty()) left.index = h + "i, k";
  if (right.index.empty()) right.index = h + "k, j";
  const std::string index = h + "i, j";
  const std::string shape = ShapeOf(product, index);
  const std::string domain =
      fmt::format("{}i: {}, j: {}", product.batch > 0 ? fmt::format("h: {}, ", product.batch) : "",
                  product.rows, product.columns);
  const bool is_bare = product.value.empty();

  std::string text =
      "compute product {\n" + Declared(product, "A", left) + Declared(product, "B", right);
  if (!product.bias.empty())
    text += fmt::format("  {} b: f32[{}]{}\n", product.bias, product.columns,
                        product.bias == "weight" ? " constant" : "");
  text += fmt::format("  output C: {}[{}]\n", product.result, shape);
  if (!is_bare) text += fmt::format("  workspace acc: {}[{}]\n", product.sum, shape);
  text += fmt::format("  acc[{}, k: {} reduction]:\n    {}[{}] sum= {} * {}\n", domain,
                      product.length, is_bare ? "C" : "acc", index, Factor(product, "A", left),
                      Factor(product, "B", right));
  if (!is_bare) text += fmt::format("  C[{}]:\n    C[{}] = {}\n", domain, index, product.value);
  return text + "}\n";
}

std::string DenseLayerText(int64_t rows, int64_t columns, int64_t length) {
  return ProductText({.rows = rows,
                      .columns = columns,
                      .length = length,
                      .right = {.weight = "constant"},
                      .bias = "weight",
                      .value = "max(acc[i, j] + b[j], 0.0)"});
}

std::string BatchedProductText(int64_t batch, int64_t rows, int64_t columns, int64_t length) {
  return ProductText({.rows = rows,
                      .columns = columns,
                      .length = length,
                      .batch = batch,
                      .right = {.index = "h, j, k"},
                      .value = ""});
}

std::string HalfProductText(int64_t rows, int64_t columns, int64_t length) {
  return ProductText({.rows = rows,
                      .columns = columns,
                      .length = length,
                      .left = {.type = "f16"},
                      .right = {.type = "f16", .weight = "constant"},
                      .result = "f16",
                      .value = "f16(acc[i, j])"});
}

}  // namespace tunec::test
