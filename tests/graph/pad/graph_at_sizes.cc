#include "tests/graph/pad/graph_at_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "graph/compare_arrays.h"
#include "graph/random_inputs.h"
#include "graph/reference.h"
#include "graph/specialize.h"
#include "graph/text/graph_text.h"
#include "tests/graph/pad/padded_values.h"

namespace tunec::test {
namespace {

int64_t Term(const std::string& term, const SizesByName& sizes) {
  const auto found = sizes.find(term);
  return found == sizes.end() ? std::stoll(term) : found->second;
}

int64_t Value(const std::string& expression, const SizesByName& sizes) {
  const size_t at = expression.find_first_of("+-*/%");
  if (at == std::string::npos) return Term(expression, sizes);
  const int64_t left = Term(expression.substr(0, at), sizes);
  const int64_t right = Term(expression.substr(at + 1), sizes);
  switch (expression[at]) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '%':
      return left % right;
    default:
      return left / right;
  }
}

std::string Iota(int64_t count) {
  std::string elements = "[";
  for (int64_t i = 0; i < count; ++i) elements += (i > 0 ? ", " : "") + std::to_string(i);
  return elements + "]";
}

std::string TextAt(const std::string& text, const SizesByName& sizes) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const bool iota = text.compare(i, 6, "$iota(") == 0;
    if (!iota && text.compare(i, 2, "$(") != 0) {
      result += text[i++];
      continue;
    }
    const size_t begin = text.find('(', i) + 1, end = text.find(')', i);
    const int64_t value = Value(text.substr(begin, end - begin), sizes);
    result += iota ? Iota(value) : std::to_string(value);
    i = end + 1;
  }
  return result;
}

void Replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Parses the text with named sizes, and expects the graph `fixed` at `sizes`. Not every text is a
/// graph with named sizes: constants and weights have numbers.
void ExpectSpecializes(std::string text, const SizesByName& sizes, const Graph& fixed) {
  Replace(text, "$(", "(");
  Replace(text, "%", " mod ");
  const auto named = ParseGraph(text, "named.graph", RandomWeights(1));
  if (!named) return;
  const auto graph = Specialize(*named, {sizes.begin(), sizes.end()});
  ASSERT_TRUE(graph) << graph.error().Format() << Print(*named);
  EXPECT_EQ(Print(*graph), Print(fixed));
}

}  // namespace

Graph GraphAt(const std::string& text, const SizesByName& sizes) {
  auto graph = ParseGraph(TextAt(text, sizes), "sized.graph", RandomWeights(1));
  EXPECT_TRUE(graph) << graph.error().Format();
  if (!graph) return Graph();
  ExpectSpecializes(text, sizes, *graph);
  return *std::move(graph);
}

std::vector<OpenAxis> OpenAxesOf(const Graph& exact, const Graph& bucket,
                                 const SizesByName& exact_sizes, const SizesByName& bucket_sizes) {
  std::vector<OpenAxis> open;
  for (size_t i = 0; i < bucket.inputs().size(); ++i) {
    const std::vector<int64_t> small = exact.value(exact.inputs()[i]).type.Shape();
    const std::vector<int64_t> large = bucket.value(bucket.inputs()[i]).type.Shape();
    for (size_t a = 0; a < large.size(); ++a) {
      for (const auto& [name, size] : exact_sizes) {
        if (small[a] == large[a] || small[a] != size || large[a] != bucket_sizes.at(name)) continue;
        open.push_back({static_cast<int>(i), static_cast<int>(a), name});
        break;
      }
    }
  }
  return open;
}

Result<PaddedGraph> PadText(const std::string& text, const SizesByName& exact,
                            const SizesByName& bucket) {
  const Graph small = GraphAt(text, exact), large = GraphAt(text, bucket);
  return PadGraph(small, large, OpenAxesOf(small, large, exact, bucket));
}

namespace {

void ExpectSameNumbers(const Graph& exact, const PaddedGraph& padded) {
  const Status verified = Verify(padded.graph);
  EXPECT_TRUE(verified) << verified.error().Format();
  const std::vector<Array> inputs = *RandomInputs(exact, 1);
  Random random(2);
  std::vector<Array> padded_inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueType& type = padded.graph.value(padded.graph.inputs()[i]).type;
    padded_inputs.push_back(Garbage(type.type, type.Shape(), random));
    CopyIntoPadded(inputs[i], padded_inputs.back());
  }
  for (const SizeParameter& parameter : padded.parameters) padded_inputs.push_back(parameter.value);
  const auto expected = RunReference(exact, inputs);
  const auto actual = RunReference(padded.graph, padded_inputs);
  EXPECT_TRUE(expected) << expected.error().Format();
  EXPECT_TRUE(actual) << actual.error().Format() << Print(padded.graph);
  if (!expected || !actual) return;
  for (size_t o = 0; o < expected->size(); ++o) {
    const Array cropped = Crop((*actual)[o], padded.outputs[o]);
    EXPECT_EQ(cropped.shape(), (*expected)[o].shape());
    if (cropped.shape() != (*expected)[o].shape()) continue;
    const OutputError error =
        CompareOutput(padded.graph.output_names()[o], cropped, (*expected)[o]);
    EXPECT_TRUE(error.IsWithin(2e-3)) << error.absolute << "\n" << Print(padded.graph);
  }
}

/// Evaluates the formulas of `padded` at `sizes`. Expects the parameters and the exact output
/// extents of `there`, which is padded for these sizes.
void ExpectFormulasHold(const PaddedGraph& padded, const PaddedGraph& there,
                        const SizesByName& sizes) {
  std::vector<int64_t> numbers;
  for (const std::string& dimension : padded.dimensions) numbers.push_back(sizes.at(dimension));
  ASSERT_EQ(padded.parameters.size(), there.parameters.size());
  for (size_t p = 0; p < padded.parameters.size(); ++p) {
    const SizeParameter& parameter = padded.parameters[p];
    EXPECT_FALSE(parameter.formulas.empty()) << parameter.name << Print(padded.graph);
    for (size_t e = 0; e < parameter.formulas.size(); ++e)
      EXPECT_EQ(parameter.formulas[e].At(numbers).value_or(-1),
                there.parameters[p].value.GetDouble(static_cast<int64_t>(e)))
          << parameter.name << " " << parameter.formulas[e].Text();
  }
  for (size_t o = 0; o < padded.outputs.size(); ++o) {
    for (size_t a = 0; a < padded.outputs[o].size(); ++a) {
      for (size_t i = 0; i < padded.outputs[o][a].size(); ++i)
        EXPECT_EQ(padded.outputs[o][a][i].formula.At(numbers), there.outputs[o][a][i].exact);
    }
  }
}

}  // namespace

PaddedGraph ExpectExact(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket) {
  const auto padded = PadText(text, exact, bucket);
  EXPECT_TRUE(padded) << padded.error().Format() << "\n" << text;
  if (!padded) return {};
  ExpectSameNumbers(GraphAt(text, exact), *padded);
  return *padded;
}

PaddedGraph ExpectOneGraph(const std::string& text, const SizesByName& bucket,
                           const std::vector<SizesByName>& exact,
                           const std::vector<SizesByName>& others) {
  const Graph large = GraphAt(text, bucket);
  std::vector<Graph> samples;
  for (const SizesByName& sizes : exact) samples.push_back(GraphAt(text, sizes));
  const std::vector<OpenAxis> open = OpenAxesOf(samples[0], large, exact[0], bucket);
  PaddedGraph first;
  for (size_t i = 0; i < exact.size() + others.size(); ++i) {
    const SizesByName& sizes = i < exact.size() ? exact[i] : others[i - exact.size()];
    const Graph small = GraphAt(text, sizes);
    const auto padded = PadGraph(small, large, open, samples);
    EXPECT_TRUE(padded) << padded.error().Format() << "\n" << text;
    if (!padded) return {};
    if (i == 0) first = *padded;
    EXPECT_EQ(Print(padded->graph), Print(first.graph));
    ExpectSameNumbers(small, *padded);
    ExpectFormulasHold(first, *padded, sizes);
  }
  return first;
}

std::string RejectionOf(const std::string& text, const SizesByName& exact,
                        const SizesByName& bucket) {
  const auto padded = PadText(text, exact, bucket);
  EXPECT_FALSE(padded) << Print(padded->graph);
  if (padded) return "";
  EXPECT_EQ(padded.error().code, ErrorCode::kUnsupported) << padded.error().Format();
  return padded.error().message;
}

int CountOf(const Graph& graph, Op op) {
  return static_cast<int>(std::ranges::count(graph.nodes(), op, &Node::op));
}

}  // namespace tunec::test
