// Tests of the fuzzer of padded graphs. It must find planted faults. It must draw all executed
// operators, and all attributes that take sizes. Cases for which it found wrong results are checked
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "graph/ops/op_table.h"
#include "graph/specialize.h"
#include "support/file.h"
#include "tests/fuzz/pad/check_pad.h"
#include "tests/fuzz/pad/shrink_pad.h"
#include "tests/fuzz/pad/sized_generator.h"

namespace tunec::fuzz {
namespace {

PadCase CaseOf(uint64_t seed) { return {.model = SizedGenerator(seed).Make(), .seed = seed}; }

std::filesystem::path RegressionFolder() {
  return std::filesystem::path(TUNEC_TEST_DATA) / "pad" / "regressions";
}

class PadRegression : public ::testing::TestWithParam<std::string> {};

TEST_P(PadRegression, EqualsTheReference) {
  const auto text = ReadFile(RegressionFolder() / GetParam());
  ASSERT_TRUE(text) << text.error().Format();
  auto padded = ParsePadCase(*text);
  ASSERT_TRUE(padded) << padded.error().Format();
  padded->code = true;
  for (uint64_t seed = padded->seed; padded->seed < seed + 5; ++padded->seed) {
    const PadResult checked = CheckPad(*padded);
    EXPECT_NE(checked.result.outcome, Outcome::kWrong) << checked.result.reason;
  }
}

std::vector<std::string> PadRegressions() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(RegressionFolder()))
    if (entry.path().extension() == ".graphs") names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Fuzz, PadRegression, ::testing::ValuesIn(PadRegressions()), TestName);

TEST(SizedGenerator, DrawsOperatorsAndAttributesWithNamedSizes) {
  std::set<Op> ops;
  std::set<std::pair<Op, std::string_view>> named;
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    const PadCase padded = CaseOf(seed);
    for (const Node& node : padded.model.named.nodes()) {
      ops.insert(node.op);
      for (const auto& [name, attribute] : node.attributes)
        if (!SizesOf(attribute).empty()) named.emplace(node.op, FindAttribute(node.op, name)->name);
    }
  }
  for (const Op op : kAllOps) {
    const OpKind kind = KindOf(op);
    const bool executed = kind != OpKind::kControl && kind != OpKind::kMemory;
    EXPECT_TRUE(!executed || ops.contains(op)) << Name(op);
    for (const AttributeSpec& attribute : SpecOf(op).attributes)
      EXPECT_EQ(named.contains({op, attribute.name}), attribute.takes_sizes)
          << Name(op) << " " << attribute.name;
  }
}

TEST(SizedGenerator, OneSeedMakesOneModelWithAGraphAtEachSetOfSizes) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const PadCase padded = CaseOf(seed);
    EXPECT_EQ(Print(padded), Print(CaseOf(seed)));
    for (const SizeSet set : kSizeSets) {
      EXPECT_EQ(padded.model.At(set).nodes().size(), padded.model.named.nodes().size());
      for (const auto& [name, size] : padded.model.sizes[set]) {
        EXPECT_GE(size, 1);
        EXPECT_LE(size, padded.model.sizes[kBucket].at(name));
      }
    }
  }
}

TEST(PadCase, ReadsWhatItPrints) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const PadCase padded = CaseOf(seed);
    const auto parsed = ParsePadCase(Print(padded));
    ASSERT_TRUE(parsed) << parsed.error().Format();
    EXPECT_EQ(Print(*parsed), Print(padded));
  }
  EXPECT_FALSE(ParsePadCase("# pad seed=1\n# sizes n0=1,2,1\n"));
  const std::string small = "graph g {\n  input x: f32[n - 1]\n  output x\n}\n";
  EXPECT_TRUE(ParsePadCase("# pad seed=1\n# sizes n=1,2,1\n" + small));
  EXPECT_FALSE(ParsePadCase("# pad seed=1\n# sizes n=0,2,1\n" + small));
  EXPECT_FALSE(ParsePadCase("# pad seed=1\n# sizes m=1,2,1\n" + small));
}

TEST(CheckPad, RunsAtMostSizes) {
  int runs = 0, excluded = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const PadResult checked = CheckPad(CaseOf(seed));
    EXPECT_NE(checked.result.outcome, Outcome::kWrong) << seed << ": " << checked.result.reason;
    runs += checked.runs;
    excluded += checked.excluded;
  }
  EXPECT_GT(runs, 200);
  EXPECT_LE(100 * excluded, 40 * (runs + excluded));
}

// Returns the bucket's graph unchanged. Declares the beginning of each output axis exact, and all
// sizes of inputs splittable.
Result<PaddedGraph> PadByNothing(const Graph& named, const SizeValues& bucket) {
  PaddedGraph padded;
  TUNEC_ASSIGN(padded.graph, Specialize(named, bucket));
  for (size_t o = 0; o < named.outputs().size(); ++o) {
    const ValueType& type = named.value(named.outputs()[o]).type;
    const auto shape = padded.graph.value(padded.graph.outputs()[o]).type.Shape();
    padded.outputs.emplace_back();
    for (size_t a = 0; a < shape.size(); ++a)
      padded.outputs.back().push_back({{.padded = shape[a], .exact = type.dims[a]}});
  }
  for (const ValueId input : named.inputs())
    for (const Dim& dim : named.value(input).type.dims) padded.separable.merge(dim.Names());
  return padded;
}

TEST(CheckPad, FindsThatNothingWasPadded) {
  std::map<std::string, int> stages;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const PadResult checked = CheckPad(CaseOf(seed), PadByNothing);
    if (checked.result.outcome == Outcome::kWrong)
      stages[checked.result.reason.substr(0, checked.result.reason.find(':'))] += 1;
  }
  EXPECT_GT(stages["padded"], 60);
  EXPECT_GT(stages["other sizes"], 2);
  EXPECT_GT(stages["separable"], 5);
}

// The graph is padded correctly, but parameters that are a single size are too large by one.
TEST(CheckPad, FindsASizeThatIsWrong) {
  const Pads pads = [](const Graph& named, const SizeValues& bucket) -> Result<PaddedGraph> {
    TUNEC_ASSIGN(PaddedGraph padded, PadGraph(named, bucket));
    for (SizeParameter& parameter : padded.parameters)
      if (parameter.value.AsName()) parameter.value = parameter.value + 1;
    return padded;
  };
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const PadResult checked = CheckPad(CaseOf(seed), pads);
    wrong += checked.result.outcome == Outcome::kWrong ? 1 : 0;
  }
  EXPECT_GT(wrong, 20);
}

TEST(ShrinkPad, KeepsWhatFails) {
  const auto has_softmax = [](const PadCase& padded) {
    return std::ranges::any_of(padded.model.named.nodes(),
                               [](const Node& node) { return node.op == Op::kSoftmax; });
  };
  int shrunk = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const PadCase padded = CaseOf(seed);
    if (!has_softmax(padded)) continue;
    const PadCase small = ShrinkPad(padded, has_softmax);
    EXPECT_TRUE(has_softmax(small));
    EXPECT_LE(small.model.named.nodes().size(), padded.model.named.nodes().size());
    ++shrunk;
  }
  EXPECT_GT(shrunk, 5);
}

}  // namespace
}  // namespace tunec::fuzz
