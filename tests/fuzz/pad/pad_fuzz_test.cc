// Tests of the fuzzer of padded graphs. It must find planted faults and draw all operators that are
// executed. Cases for which it found wrong results are checked again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

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

TEST(SizedGenerator, DrawsTheOperatorsThatCanBePadded) {
  std::map<Op, int> drawn;
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    const PadCase padded = CaseOf(seed);
    for (const Node& node : padded.model.graphs[kExact].nodes()) drawn[node.op] += 1;
  }
  for (const Op op : kAllOps) {
    const OpKind kind = KindOf(op);
    const bool executed = kind != OpKind::kControl && kind != OpKind::kMemory;
    EXPECT_TRUE(!executed || drawn[op] > 0) << Name(op);
  }
}

TEST(SizedGenerator, OneSeedMakesTheSameNodesAtEachSize) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const PadCase padded = CaseOf(seed), again = CaseOf(seed);
    EXPECT_EQ(Print(padded), Print(again));
    const auto& graphs = padded.model.graphs;
    for (const SizeSet set : kSizeSets) {
      ASSERT_EQ(graphs[set].nodes().size(), graphs[kBucket].nodes().size());
      for (size_t n = 0; n < graphs[set].nodes().size(); ++n) {
        EXPECT_EQ(graphs[set].nodes()[n].name, graphs[kBucket].nodes()[n].name);
        EXPECT_EQ(graphs[set].nodes()[n].inputs, graphs[kBucket].nodes()[n].inputs);
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
  EXPECT_FALSE(ParsePadCase("# pad seed=1\n"));
}

// Returns the bucket's graph unchanged. Declares the beginning of each output axis exact, and all
// dimensions splittable.
Result<PaddedGraph> PadByNothing(const Graph& exact, const Graph& bucket,
                                 std::span<const OpenAxis> open, std::span<const Graph>) {
  PaddedGraph padded;
  padded.graph = bucket;
  for (size_t o = 0; o < bucket.outputs().size(); ++o) {
    const std::vector<int64_t> small = exact.value(exact.outputs()[o]).type.Shape();
    const std::vector<int64_t> large = bucket.value(bucket.outputs()[o]).type.Shape();
    padded.outputs.emplace_back();
    for (size_t a = 0; a < small.size(); ++a) {
      if (small[a] > large[a]) return Fail(ErrorCode::kUnsupported, "it shrinks");
      padded.outputs.back().push_back({{.padded = large[a], .exact = small[a]}});
    }
  }
  for (const OpenAxis& axis : open) padded.separable.push_back(axis.dimension);
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
  const Pads pads = [](const Graph& exact, const Graph& bucket, std::span<const OpenAxis> open,
                       std::span<const Graph> samples) -> Result<PaddedGraph> {
    TUNEC_ASSIGN(PaddedGraph padded, PadGraph(exact, bucket, open, samples));
    for (SizeParameter& parameter : padded.parameters) {
      const bool size = parameter.value.size() == 1 && parameter.name.starts_with("size");
      if (size) parameter.value.SetInt(0, parameter.value.GetInt(0) + 1);
      parameter.formulas.clear();
    }
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
    return std::ranges::any_of(padded.model.graphs[kExact].nodes(),
                               [](const Node& node) { return node.op == Op::kSoftmax; });
  };
  int shrunk = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const PadCase padded = CaseOf(seed);
    if (!has_softmax(padded)) continue;
    const PadCase small = ShrinkPad(padded, has_softmax);
    EXPECT_TRUE(has_softmax(small));
    EXPECT_LE(small.model.graphs[kExact].nodes().size(),
              padded.model.graphs[kExact].nodes().size());
    ++shrunk;
  }
  EXPECT_GT(shrunk, 5);
}

}  // namespace
}  // namespace tunec::fuzz
