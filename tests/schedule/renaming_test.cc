// Tests that the names of iterators do not matter: a Compute with new names in all statements has
// the same sketches, with the same schedules except for the names.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/operators.h"
#include "tests/programs/small_operators.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/random_decisions.h"

namespace tunec::test {
namespace {

// A program in which t and u both read m, and Y reads t and u. Neither t nor u reads the other.
constexpr std::string_view kTwoChains = R"(compute two_chains {
  input A: f32[7, 37]
  input B: f32[7, 37]
  output Y: f32[7, 37]
  workspace m: f32[7]
  workspace t: f32[7, 37]
  workspace u: f32[7, 37]
  m[i: 7, j: 37 reduction]:
    m[i] max= A[i, j]
  t[i: 7, j: 37]:
    t[i, j] = A[i, j] - m[i]
  u[i: 7, j: 37]:
    u[i, j] = B[i, j] * m[i]
  Y[i: 7, j: 37]:
    Y[i, j] = t[i, j] + u[i, j]
}
)";

// A program with a reduction of two values, which reduce_split rejects. The other statement that
// reads X iterates over the rows, too.
constexpr std::string_view kBesideArgMax = R"(compute beside_argmax {
  input X: f32[6, 37]
  output P: i64[6] range [0, 36]
  output Y: f32[6, 37]
  workspace V: f32[6]
  S[i: 6, k: 37 reduction]:
    (V[i], P[i]) argmax= (X[i, k], index_i64(k))
  Y[i: 6, k: 37]:
    Y[i, k] = X[i, k] - V[i]
}
)";

struct Case {
  std::string name;
  std::string_view text;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Program& program : kPrograms)
    cases.push_back({std::string(program.name), program.text});
  for (const std::string_view text : kSmallPrograms) {
    cases.push_back({fmt::format("small_{}", cases.size()), text});
  }
  cases.push_back({"two_products", kTwoProducts});
  cases.push_back({"rows_and_columns", kRowsAndColumns});
  cases.push_back({"two_chains", kTwoChains});
  cases.push_back({"beside_argmax", kBesideArgMax});
  return cases;
}

struct Renamed {
  Compute compute;
  std::map<std::string, std::string> old_names;  // keyed by the new names, which have equal lengths
};

// Renames iterators so that all names in all statements differ.
Renamed Rename(Compute compute) {
  Renamed renamed;
  int number = 100;
  for (Statement& statement : compute.statements) {
    for (Iterator& iterator : statement.iterators) {
      std::string fresh = fmt::format("fresh{}", number++);
      renamed.old_names[fresh] = std::exchange(iterator.name, fresh);
    }
  }
  renamed.compute = std::move(compute);
  return renamed;
}

std::string WithOldNames(std::string text, const Renamed& renamed) {
  for (const auto& [fresh, old] : renamed.old_names) {
    for (size_t at = text.find(fresh); at != std::string::npos; at = text.find(fresh, at)) {
      text.replace(at, fresh.size(), old);
    }
  }
  return text;
}

// Returns the sketch's name, knobs, initial schedule and some random schedules as text.
std::string Describe(const Sketch& sketch) {
  std::string text = sketch.name + "\n";
  for (const Knob& knob : sketch.knobs) {
    text += fmt::format("{}: {} of {}\n", knob.name, knob.initial, fmt::join(knob.choices, " "));
  }
  text += Print(sketch.Fill(sketch.InitialDecisions()));
  std::mt19937 random(7);
  for (int i = 0; i < 5; ++i) {
    text += Print(sketch.Fill(RandomDecisions(sketch, random)));
  }
  return text;
}

class RenamingTest : public testing::TestWithParam<Case> {};

TEST_P(RenamingTest, ChangesNoSketchAndNoSchedule) {
  const Compute compute = MustParse(GetParam().text);
  const Renamed renamed = Rename(compute);
  const std::vector<Sketch> expected = SketchesOn(compute);
  const std::vector<Sketch> sketches = SketchesOn(renamed.compute);
  ASSERT_EQ(sketches.size(), expected.size()) << Print(renamed.compute);
  const ScheduleChecker before(compute), after(renamed.compute);
  for (size_t i = 0; i < sketches.size(); ++i) {
    EXPECT_EQ(WithOldNames(Describe(sketches[i]), renamed), Describe(expected[i]));
    const Schedule schedule = sketches[i].Fill(sketches[i].InitialDecisions());
    const std::string outcome = after.Outcome(schedule);
    const Schedule original = expected[i].Fill(expected[i].InitialDecisions());
    EXPECT_EQ(outcome.empty(), before.Outcome(original).empty()) << outcome << Print(schedule);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, RenamingTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

// Exchanges two iterator names of the second product: o[.., t] sum= p[.., e, ..] * V[.., e, t]. The
// first product has the name t for its columns, which are e here. Both products now have a loop
// named t, with different meanings.
TEST(Renaming, StreamsFitASecondProductThatCallsItsLanesAsTheFirstItsColumns) {
  Compute compute = MustParse(kAttention);
  Statement& product = compute.statements[*compute.FindStatement("o")];
  Iterator& e = product.iterators[IteratorVar(2)];
  Iterator& lane = product.iterators[IteratorVar(3)];
  ASSERT_EQ(e.name, "e");
  ASSERT_EQ(lane.name, "t");
  std::swap(e.name, lane.name);
  const ScheduleChecker checker(compute);
  const Sketch first = SketchesOn(compute)[0];
  EXPECT_EQ(first.Kind(), "stream");
  const Schedule schedule = first.Fill(first.InitialDecisions());
  EXPECT_EQ(checker.Outcome(schedule), "") << Print(schedule);
}

// The statements share the loop over rows, although they have no common iterator name.
TEST(Renaming, RowsFitStatementsThatAreRelatedByTheRowOnly) {
  for (const std::string_view text :
       ProgramTexts{kTwoChains, kBesideArgMax, kSoftmax, kLayerNorm}) {
    const ScheduleChecker checker(Rename(MustParse(text)).compute);
    const Sketch first = SketchesOn(checker.compute())[0];
    EXPECT_EQ(first.Kind(), "rows");
    const Schedule schedule = first.Fill(first.InitialDecisions());
    EXPECT_EQ(checker.Outcome(schedule), "") << Print(schedule);
  }
}

}  // namespace
}  // namespace tunec::test
