// A builder of test graphs with random weights. An error fails the test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/graph.h"
#include "tests/graph/lower/run_lowered.h"

namespace tunec {

class SampleGraph {
 public:
  explicit SampleGraph(std::string name, uint64_t seed = 7)
      : builder_(std::move(name)), random_(seed) {}

  ValueId Input(std::vector<int64_t> shape, DataType type = DataType::kF32) {
    const std::string name = "x" + std::to_string(inputs_++);
    auto value = builder_.AddInput(name, {type, std::vector<Dim>(shape.begin(), shape.end())});
    EXPECT_TRUE(value) << value.error().Format();
    return *value;
  }
  /// Adds a constant with random elements.
  ValueId Weight(std::vector<int64_t> shape, DataType type = DataType::kF32) {
    return builder_.AddConstant("w", RandomArray(type, std::move(shape), random_));
  }
  ValueId Constant(Array array) { return builder_.AddConstant("c", std::move(array)); }
  ValueId Scalar(double value, DataType type = DataType::kF32) {
    Array array(type, {});
    IsFloat(type) ? array.SetDouble(0, value) : array.SetInt(0, static_cast<int64_t>(value));
    return Constant(std::move(array));
  }
  ValueId Integers(std::vector<int64_t> values, DataType type = DataType::kI64) {
    Array array(type, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) array.SetInt(static_cast<int64_t>(i), values[i]);
    return Constant(std::move(array));
  }
  ValueId operator()(Op op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    auto value = builder_.Add(op, std::move(inputs), std::move(attributes));
    EXPECT_TRUE(value) << value.error().Format();
    return value ? *value : ValueId{0};
  }
  void SetLayout(ValueId value, Layout layout) { builder_.SetLayout(value, std::move(layout)); }
  Graph Build(const std::vector<ValueId>& outputs) {
    for (const ValueId output : outputs) builder_.AddOutput(output);
    return std::move(builder_).Build();
  }

 private:
  GraphBuilder builder_;
  Random random_;
  int inputs_ = 0;
};

using Ints = std::vector<int64_t>;

}  // namespace tunec
