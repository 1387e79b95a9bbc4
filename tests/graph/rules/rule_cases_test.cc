// Tests of the built-in rules on the small graphs of *.cases in this folder. A case begins with
// `### title [| fast] [| any zero]`. A graph, a line `----`, the names of the applied rules and the
// resulting graph follow. `tools/dev bless` rewrites the files. The graphs before and after must
// agree on ordinary numbers. Unless the case is `fast`, they must also agree on NaNs, infinities
// and both zeros. With `fast` or `any zero`, a zero result may have either sign. Every built-in
// rule must apply in one of the cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "graph/passes/pipeline.h"
#include "graph/reference.h"
#include "graph/rules/builtin_rules.h"
#include "graph/text/graph_text.h"
#include "support/random.h"
#include "tests/golden/golden_file.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string title;  // the rest of the title line
  std::string input;
  std::string expected;
  bool IsFast() const { return title.contains("| fast"); }
  bool AnyZero() const { return IsFast() || title.contains("| any zero"); }
};

std::vector<Case> ReadCases(const fs::path& path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  bool in_expected = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("### ")) {
      cases.push_back({.title = line.substr(4)});
      in_expected = false;
    } else if (line == "----") {
      in_expected = true;
    } else {
      (in_expected ? cases.back().expected : cases.back().input) += line + "\n";
    }
  }
  return cases;
}

PipelineOptions OptionsOf(const Case& c, const fs::path& path) {
  PipelineOptions options;
  options.names = {"canonicalize", "merge_common_nodes"};
  if (path.stem() == "patterns")
    options.names.insert(options.names.begin() + 1, "recognize_patterns");
  if (path.stem() == "folds") options.names = {"fold_batch_norm", "fold_linear", "canonicalize"};
  if (c.IsFast()) options.pass.rules = FloatRules::kFast;
  return options;
}

double Ordinary(Random& random) { return random.Unit() * 4 - 2; }

double Positive(Random& random) { return random.Unit() + 0.5; }

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double Special(Random& random) {
  const double numbers[] = {0.0, -0.0, kInfinity, -kInfinity, std::nan(""), 1, -1};
  return numbers[random.Below(std::size(numbers))];
}

// Returns 1, -1 or a number so large that sums and products may overflow in f32.
double Great(Random& random) {
  const double numbers[] = {1, -1, 2e38, -2e38, 3e38, -3e38};
  return numbers[random.Below(std::size(numbers))];
}

std::vector<Array> InputsOf(const Graph& graph, Random& random, double (*number)(Random&)) {
  std::vector<Array> inputs;
  for (const ValueId input : graph.inputs()) {
    const ValueType& type = graph.value(input).type;
    Array array(type.type, type.Shape());
    for (int64_t i = 0; i < array.size(); ++i) {
      if (IsFloat(type.type))
        array.SetDouble(i, number(random));
      else
        array.SetInt(i, type.type == DataType::kBool ? static_cast<int64_t>(random.Below(2))
                                                     : static_cast<int64_t>(random.Below(19)) + 1);
    }
    inputs.push_back(std::move(array));
  }
  return inputs;
}

bool SameNumber(double a, double b, bool any_zero) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  if (a == 0 && b == 0 && !any_zero) return std::signbit(a) == std::signbit(b);
  return std::abs(a - b) <= 2e-5 * std::max(1.0, std::abs(b));
}

void ExpectSameNumbers(const Case& c, const Graph& before, const Graph& after,
                       double (*number)(Random&)) {
  Random random(5);
  for (int trial = 0; trial < 8; ++trial) {
    const std::vector<Array> inputs = InputsOf(before, random, number);
    const auto expected = RunReference(before, inputs);
    const auto actual = RunReference(after, inputs);
    ASSERT_TRUE(expected && actual);
    for (size_t o = 0; o < expected->size(); ++o)
      for (int64_t i = 0; i < (*expected)[o].size(); ++i)
        ASSERT_TRUE(SameNumber((*actual)[o].GetDouble(i), (*expected)[o].GetDouble(i), c.AnyZero()))
            << "output " << o << "[" << i << "] is " << (*actual)[o].GetDouble(i) << ", was "
            << (*expected)[o].GetDouble(i);
  }
}

// Runs the case and adds the names of the applied rules to `fired`. Returns the text that belongs
// after `----`, or an empty string if the graph cannot be parsed or a pass fails.
std::string RunCase(const Case& c, const fs::path& path, std::set<std::string>& fired) {
  const auto before = ParseGraph(c.input, path.filename().string(), NoWeights());
  EXPECT_TRUE(before) << before.error().Format();
  if (!before) return "";
  std::string names;
  PipelineOptions options = OptionsOf(c, path);
  options.pass.on_rule = [&](const Rule& rule, const Node&) {
    fired.insert(rule.name);
    if (!(", " + names + ",").contains(", " + rule.name + ","))
      names += (names.empty() ? "" : ", ") + rule.name;
  };
  const auto after = RunPipeline(*before, options);
  EXPECT_TRUE(after) << after.error().Format();
  if (!after) return "";
  ExpectSameNumbers(c, *before, after->graph, c.IsFast() ? Positive : Ordinary);
  if (!c.IsFast()) ExpectSameNumbers(c, *before, after->graph, Special);
  // A recognised operator may be finite where an intermediate value overflowed before. A product
  // with folded weights may be finite, too.
  if (!c.IsFast() && path.stem() != "patterns" && path.stem() != "folds")
    ExpectSameNumbers(c, *before, after->graph, Great);
  return "fired: " + (names.empty() ? "nothing" : names) + "\n" + Print(after->graph);
}

TEST(BuiltinRules, GoldenCases) {
  std::set<std::string> fired;
  for (const char* name : {"algebra", "movement", "patterns", "folds"}) {
    const fs::path path =
        fs::path(TUNEC_TEST_DATA) / "graph/rules" / (std::string(name) + ".cases");
    std::string blessed;
    for (const Case& c : ReadCases(path)) {
      SCOPED_TRACE(c.title);
      const std::string actual = RunCase(c, path, fired);
      if (!test::RewritesGoldens()) {
        EXPECT_EQ(actual, c.expected);
      }
      blessed += "### " + c.title + "\n" + c.input + "----\n" + actual;
    }
    if (test::RewritesGoldens()) std::ofstream(path) << blessed;
  }
  std::set<std::string> untested;
  for (const RuleSet* rules : {&CanonicalRules(), &PatternRules(), &FoldRules()})
    for (const Rule& rule : rules->rules())
      if (!fired.contains(rule.name)) untested.insert(rule.name);
  EXPECT_EQ(untested, std::set<std::string>());
}

}  // namespace
}  // namespace tunec
