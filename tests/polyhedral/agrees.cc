#include "tests/polyhedral/agrees.h"

#include <cmath>
#include <random>
#include <vector>

#include "ir/array.h"
#include "ir/interpret/interpret.h"
#include "support/check.h"

namespace tunec::test {

bool Agrees(const Compute& compute, const LoopNest& nest) {
  std::mt19937_64 random(5);
  std::vector<Array> arguments;
  for (const Tensor& tensor : compute.tensors) {
    if (tensor.role != TensorRole::kInput) continue;
    Array array(tensor.type, tensor.shape);
    for (int64_t i = 0; i < array.size(); ++i) {
      const int64_t limit = tensor.range ? tensor.range->hi + 1 : 64;
      array.SetDouble(i, static_cast<double>(random() % static_cast<uint64_t>(limit)));
    }
    arguments.push_back(std::move(array));
  }
  const auto expected = Interpret(compute, arguments, Precision::kFloat64);
  TUNEC_CHECK(expected.has_value(), "{}", expected.error().message);
  const auto found = Interpret(nest, arguments, Precision::kFloat64);
  if (!found) return false;
  for (size_t o = 0; o < expected->size(); ++o) {
    for (int64_t i = 0; i < (*expected)[o].size(); ++i) {
      const double difference = std::abs((*expected)[o].GetDouble(i) - (*found)[o].GetDouble(i));
      if (!(difference <= 1e-9)) return false;
    }
  }
  return true;
}

}  // namespace tunec::test
