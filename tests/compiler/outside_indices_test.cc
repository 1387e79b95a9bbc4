// Tests of gather indices that are out of range. In runs, the nearest index in range is used
// instead, and such indices are counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/reference.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::GraphOf;
using testing::Options;

Array Indices(const std::vector<int64_t>& values) {
  Array array(DataType::kI64, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) array.SetInt(static_cast<int64_t>(i), values[i]);
  return array;
}

/// Runs the executable and compares the outputs with the reference. Returns "NODE EXTENT COUNT; "
/// for each entry of Executable::Outside. COUNT is the total of all runs so far.
std::string RunAndCount(const Executable& executable, const Graph& graph, const Array& indices) {
  const auto expected = RunReference(graph, {&indices, 1});
  EXPECT_TRUE(expected.has_value()) << expected.error().Format();
  std::vector<Array> outputs;
  std::vector<void*> to;
  for (const TensorSpec& spec : executable.Outputs()) outputs.emplace_back(spec.type, spec.shape);
  for (Array& output : outputs) to.push_back(output.mutable_data());
  const void* from = indices.data();
  EXPECT_TRUE(executable.Run({&from, 1}, to).has_value());
  for (size_t i = 0; i < outputs.size() && expected; ++i)
    for (int64_t e = 0; e < outputs[i].size(); ++e)
      EXPECT_EQ(outputs[i].GetDouble(e), (*expected)[i].GetDouble(e)) << i << " " << e;
  std::string text;
  for (const OutsideIndices& outside : executable.Outside())
    text += fmt::format("{} {} {}; ", outside.node, outside.extent, outside.count);
  return text;
}

TEST(OutsideIndices, AreCountedAndTheNearestTaken) {
  const Graph graph = GraphOf(R"(graph g {
    constant x: f32[3, 2] = [10, 11, 20, 21, 30, 31]
    input i: i64[5]
    y = gather(x, i)
    output y
  })");
  const auto model = Compile(graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  const Executable& executable = *model->executable;
  EXPECT_EQ(RunAndCount(executable, graph, Indices({0, 1, 2, -1, -3})), "");
  EXPECT_EQ(RunAndCount(executable, graph, Indices({3, -4, INT64_MAX, INT64_MIN, 0})), "y 3 4; ");
  EXPECT_EQ(RunAndCount(executable, graph, Indices({3, 0, 0, 0, 0})), "y 3 5; ");
}

// The graph computes the indices. They are neither an input nor an output of the model.
TEST(OutsideIndices, OfComputedOnesToo) {
  const Graph graph = GraphOf(R"(graph g {
    constant x: f32[30] = [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29]
    input i: i64[6]
    constant two: i64[] = 2
    n = mul(i, two)
    a = gather(x, n)
    b = relu(a)
    z = add(b, b)
    output z
  })");
  const auto model = Compile(graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  ASSERT_EQ(model->executable->Outputs().size(), 1U);
  EXPECT_EQ(RunAndCount(*model->executable, graph, Indices({0, 14, 15, 16, -15, -16})), "a 30 3; ");
}

TEST(OutsideIndices, AsConstantsAreRejected) {
  const auto rejected = Compile(GraphOf(R"(graph g {
    input x: f32[3, 2]
    constant i: i64[2] = [1, 7]
    y = gather(x, i)
    output y
  })"),
                                nullptr, Options());
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(rejected.error().message,
            "gather y: index 7 at position 1 is out of range, expected -3 to 2");
}

// Without query heads, the number of query heads for each key head is 0. No code may divide by it.
TEST(NoElements, AreComputedByDoingNothing) {
  const Graph graph = GraphOf(R"(graph g {
    input q: f32[2, 0, 4, 8]
    input k: f32[2, 2, 4, 8]
    y = attention(q, k, k)
    output y
  })");
  const auto model = Compile(graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  const Array none(DataType::kF32, {2, 0, 4, 8});
  const Array keys(DataType::kF32, {2, 2, 4, 8});
  const std::vector<const void*> from{none.data(), keys.data()};
  const std::vector<void*> to{nullptr};
  EXPECT_TRUE(model->executable->Run(from, to).has_value());
}

}  // namespace
}  // namespace tunec
