#include "tests/graph/pad/graph_at_sizes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/compare_arrays.h"
#include "graph/random_inputs.h"
#include "graph/reference.h"
#include "graph/specialize.h"
#include "graph/text/graph_text.h"
#include "tests/graph/pad/padded_values.h"

namespace tunec::test {
namespace {

std::string Text(const SizeValues& sizes) {
  std::string text = "sizes";
  for (const auto& [name, size] : sizes) text += fmt::format(" {}={}", name, size);
  return text;
}

Result<Graph> Parse(const std::string& text) {
  return ParseGraph(text, "named.graph", RandomWeights(1));
}

std::vector<Array> PaddedInputs(const PaddedGraph& padded, const std::vector<Array>& inputs,
                                const SizeValues& sizes) {
  Random random(2);
  std::vector<Array> result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueType& type = padded.graph.value(padded.graph.inputs()[i]).type;
    CopyIntoPadded(inputs[i], result.emplace_back(Garbage(type.type, type.Shape(), random)));
  }
  for (const SizeParameter& parameter : padded.parameters) {
    const auto value = Evaluate(parameter.value, sizes);
    EXPECT_TRUE(value) << parameter.name;
    result.emplace_back(parameter.type, std::vector<int64_t>{}).SetInt(0, value.value_or(-1));
  }
  return result;
}

void ExpectSameNumbers(const Graph& named, const PaddedGraph& padded, const SizeValues& sizes) {
  SCOPED_TRACE(Text(sizes) + "\n" + Print(named));
  const Graph exact = GraphAt(named, sizes);
  ASSERT_FALSE(exact.outputs().empty());
  const std::vector<Array> inputs = *RandomInputs(exact, 1);
  const auto expected = RunReference(exact, inputs);
  const auto actual = RunReference(padded.graph, PaddedInputs(padded, inputs, sizes));
  ASSERT_TRUE(expected) << expected.error().Format();
  ASSERT_TRUE(actual) << actual.error().Format() << Print(padded.graph);
  for (size_t o = 0; o < expected->size(); ++o) {
    const Array &wanted = (*expected)[o], &result = (*actual)[o];
    ASSERT_EQ(SizesProblem(padded.outputs[o], sizes, wanted.shape(), result.shape()), "");
    const OutputError error = CompareOutput(padded.graph.output_names()[o],
                                            Crop(result, padded.outputs[o], sizes), wanted);
    EXPECT_TRUE(error.IsWithin(2e-3)) << error.absolute << "\n" << Print(padded.graph);
  }
}

/// Pads the graph. If this fails, fails the test and returns an empty graph.
PaddedGraph Pad(const Graph& named, const SizeValues& bucket) {
  auto padded = PadGraph(named, bucket);
  EXPECT_TRUE(padded) << padded.error().Format() << "\n" << Print(named);
  if (!padded) return {};
  const Status verified = Verify(padded->graph);
  EXPECT_TRUE(verified) << verified.error().Format();
  return *std::move(padded);
}

/// Returns whether all conditions of the graph and of its padded graph hold at these sizes.
bool Fits(const Graph& named, const PaddedGraph& padded, const SizeValues& sizes) {
  const auto holds = [&](const SizeCondition& condition) {
    return Holds(condition, sizes).value_or(false);
  };
  return std::ranges::all_of(ConditionsOf(named), holds) &&
         std::ranges::all_of(padded.conditions, holds);
}

/// Returns all sizes from 1 to those of the bucket.
std::vector<SizeValues> SizesUpTo(const SizeValues& bucket) {
  std::vector<SizeValues> all = {{}};
  for (const auto& [name, most] : bucket) {
    std::vector<SizeValues> longer;
    for (SizeValues& sizes : all) {
      for (int64_t size = 1; size <= most; ++size) {
        sizes[name] = size;
        longer.push_back(sizes);
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace

Graph NamedGraph(const std::string& text) {
  auto graph = Parse(text);
  EXPECT_TRUE(graph) << graph.error().Format() << "\n" << text;
  return graph ? *std::move(graph) : Graph();
}

Graph GraphAt(const Graph& named, const SizeValues& sizes) {
  auto graph = Specialize(named, sizes);
  EXPECT_TRUE(graph) << graph.error().Format() << "\n" << Print(named);
  return graph ? *std::move(graph) : Graph();
}

Result<PaddedGraph> PadText(const std::string& text, const SizeValues& bucket) {
  TUNEC_ASSIGN(const Graph named, Parse(text));
  return PadGraph(named, bucket);
}

PaddedGraph ExpectOneGraph(const std::string& text, const SizeValues& bucket,
                           const std::vector<SizeValues>& sizes) {
  const Graph named = NamedGraph(text);
  PaddedGraph padded = Pad(named, bucket);
  if (padded.outputs.empty()) return padded;
  for (const SizeValues& exact : sizes) {
    EXPECT_TRUE(Fits(named, padded, exact)) << Text(exact) << "\n" << text;
    ExpectSameNumbers(named, padded, exact);
  }
  return padded;
}

PaddedGraph ExpectExact(const std::string& text, const SizeValues& exact,
                        const SizeValues& bucket) {
  return ExpectOneGraph(text, bucket, {exact});
}

std::vector<SizeValues> ExpectExactWhereItFits(const std::string& text, const SizeValues& bucket) {
  const Graph named = NamedGraph(text);
  const PaddedGraph padded = Pad(named, bucket);
  if (padded.outputs.empty()) return {};
  std::vector<SizeValues> fitting = SizesUpTo(bucket);
  std::erase_if(fitting, [&](const SizeValues& sizes) { return !Fits(named, padded, sizes); });
  for (const SizeValues& sizes : fitting) ExpectSameNumbers(named, padded, sizes);
  return fitting;
}

std::string RejectionOf(const std::string& text, const SizeValues& bucket) {
  const auto padded = PadText(text, bucket);
  EXPECT_FALSE(padded) << Print(padded->graph);
  if (padded) return "";
  EXPECT_EQ(padded.error().code, ErrorCode::kUnsupported) << padded.error().Format();
  return padded.error().message;
}

int CountOf(const Graph& graph, Op op) {
  return static_cast<int>(std::ranges::count(graph.nodes(), op, &Node::op));
}

}  // namespace tunec::test
