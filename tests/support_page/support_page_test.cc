// Tests that docs/support.md equals a fresh generation. With TUNEC_BLESS=1 the page is rewritten,
// except for its last section, which is written by hand.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/op_table.h"
#include "ir/tile_intrinsic.h"
#include "support/file.h"
#include "tests/fuzz/graph_generator.h"
#include "tests/golden/golden_file.h"
#include "tests/support_page/operator_support.h"
#include "tests/support_page/step_support.h"

namespace tunec {
namespace {

constexpr size_t kLineWidth = 100;
constexpr std::string_view kGaps = "## Known gaps\n";

// Returns the words as an indented code block of Markdown, in lines of at most kLineWidth columns.
std::string Wrapped(const std::vector<std::string>& words) {
  constexpr std::string_view kIndent = "   ";  // the space before a word makes four
  std::string text, line(kIndent);
  for (const std::string& word : words) {
    if (line.size() + 1 + word.size() > kLineWidth) {
      text += line + "\n";
      line = kIndent;
    }
    line += " " + word;
  }
  return text + line + "\n";
}

// ---- Operators

// A column of the operator table, for a set of element types.
struct TypeClass {
  std::string_view title;
  std::vector<DataType> types;
};

const std::vector<TypeClass>& TypeClasses() {
  using enum DataType;
  static const std::vector<TypeClass> classes = {{"f32, f64", {kF32, kF64}},
                                                 {"f16, bf16", {kF16, kBF16}},
                                                 {"i8 to i64", {kI8, kI16, kI32, kI64}},
                                                 {"u8 to u64", {kU8, kU16, kU32, kU64}},
                                                 {"bool", {kBool}}};
  return classes;
}

std::string_view Word(Support support) {
  switch (support) {
    case Support::kRejected:
      return "-";
    case Support::kReference:
      return "reference";
    case Support::kCpu:
      return "cpu";
    case Support::kCuda:
      return "cuda";
    case Support::kBoth:
      return "both";
  }
  return "";
}

// Returns one word if all types of the class have the same word. Otherwise returns the type and its
// word for each type that is not rejected. Returns "-" for an operator without cases.
std::string ClassCell(const OperatorSupport& support, const TypeClass& types) {
  if (support.types.empty()) return "-";
  std::vector<std::string> cells;
  bool is_same = true;
  for (const DataType type : types.types) {
    is_same &= support.types.at(type) == support.types.at(types.types.front());
    if (support.types.at(type) == Support::kRejected) continue;
    cells.push_back(fmt::format("{}: {}", Name(type), Word(support.types.at(type))));
  }
  if (is_same) return std::string(Word(support.types.at(types.types.front())));
  return fmt::format("{}", fmt::join(cells, ", "));
}

bool IsFuzzed(Op op) {
  const auto recipes = fuzz::Recipes();
  const auto found = std::ranges::find(recipes, op, &fuzz::Recipe::op);
  return found != recipes.end() && found->draw != nullptr;
}

std::string OperatorTable() {
  std::string text = "| operator |";
  for (const TypeClass& types : TypeClasses()) text += fmt::format(" {} |", types.title);
  text += " cases | random |\n| --- |";
  for (size_t i = 0; i < TypeClasses().size(); ++i) text += " --- |";
  text += " ---: | --- |\n";
  for (const OperatorSupport& support : FindOperatorSupport()) {
    text += fmt::format("| `{}` |", Name(support.op));
    for (const TypeClass& types : TypeClasses())
      text += fmt::format(" {} |", ClassCell(support, types));
    text += fmt::format(" {} | {} |\n", support.cases, IsFuzzed(support.op) ? "yes" : "-");
  }
  return text;
}

// ---- Steps and instructions

std::string Yes(bool is_true) { return is_true ? "yes" : "-"; }

std::string StepTable() {
  std::string text =
      "| step | cpu | cuda |\n"
      "| --- | --- | --- |\n";
  for (const StepSupport& step : FindStepSupport()) {
    EXPECT_GT(step.examples, 0) << step.form << " has no example in tests/schedule/golden";
    const std::string name = step.form.substr(0, step.form.find(' '));
    text += fmt::format("| `{}` | {} | {} |\n", name, Yes(step.on_cpu), Yes(step.on_cuda));
  }
  return text;
}

std::string IntrinsicTable() {
  std::string text =
      "| instruction | target | features | rows x columns x sum | operands | result |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const TileIntrinsic& tile : TileIntrinsics()) {
    const bool is_same = tile.left.type == tile.right.type;
    text += fmt::format(
        "| `{}` | {} | {} | {} x {} x {} | {} | {} |\n", tile.name, tile.target,
        fmt::join(tile.features, ", "), tile.Extent(TileAxis::kRow), tile.Extent(TileAxis::kColumn),
        tile.Extent(TileAxis::kReduced) * tile.Extent(TileAxis::kGroup),
        is_same ? std::string(Name(tile.left.type))
                : fmt::format("{}, {}", Name(tile.left.type), Name(tile.right.type)),
        Name(tile.accumulator.type));
  }
  return text;
}

// ---- ONNX

// The numbers of test cases by outcome, or by reason for cases out of scope.
using Outcomes = std::map<std::string, int>;

// Returns the outcomes of tests/onnx_conformance/outcomes.txt by operator, and the cases out of
// scope by reason. Two lines are "Einsum: 8 passed, 1 unsupported" and "out of scope: 32 strings".
std::map<std::string, Outcomes> ReadOutcomes() {
  const auto text = ReadFile(TUNEC_TEST_DATA "/onnx_conformance/outcomes.txt");
  EXPECT_TRUE(text) << text.error().message;
  std::map<std::string, Outcomes> outcomes;
  std::istringstream lines(text.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#") || line.empty()) continue;
    const size_t colon = line.find(": ");
    std::istringstream parts(line.substr(colon + 2));
    for (std::string part; std::getline(parts, part, ',');) {
      std::istringstream words(part);
      int count = 0;
      words >> count >> std::ws;
      std::string outcome;
      std::getline(words, outcome);
      outcomes[line.substr(0, colon)][outcome] = count;
    }
  }
  return outcomes;
}

std::string OnnxSection() {
  std::map<std::string, Outcomes> outcomes = ReadOutcomes();
  const Outcomes out_of_scope = outcomes["out of scope"];
  outcomes.erase("out of scope");
  Outcomes totals;
  int in_scope = 0;
  std::vector<std::string> whole;
  std::string table =
      "| operator | passed | unsupported | other by choice |\n| --- | ---: | ---: | ---: |\n";
  for (const auto& [name, of_operator] : outcomes) {
    for (const auto& [outcome, count] : of_operator) {
      totals[outcome] += count;
      in_scope += count;
    }
    const auto count = [&](const std::string& outcome) {
      const auto found = of_operator.find(outcome);
      return found == of_operator.end() ? 0 : found->second;
    };
    if (of_operator.size() == 1 && of_operator.contains("passed")) {
      whole.push_back(name);
      whole.push_back(fmt::format("{},", count("passed")));
    } else {
      table += fmt::format("| {} | {} | {} | {} |\n", name, count("passed"), count("unsupported"),
                           count("other by choice"));
    }
  }
  if (!whole.empty()) whole.back().back() = '.';
  std::string text = fmt::format(
      "| in scope | passed | unsupported | other by choice | wrong |\n"
      "| ---: | ---: | ---: | ---: | ---: |\n| {} | {} ({:.1f} %) | {} | {} | {} |\n\n",
      in_scope, totals["passed"], 100.0 * totals["passed"] / std::max(in_scope, 1),
      totals["unsupported"], totals["other by choice"], totals["wrong"]);
  text += "These operators have cases that do not pass:\n\n" + table;
  text += "\nAll cases of these operators pass, with the number of cases:\n\n" + Wrapped(whole);
  text += "\nThese cases are out of scope:\n\n";
  for (const auto& [reason, count] : out_of_scope) text += fmt::format("- {}: {}\n", reason, count);
  return text;
}

// ---- The page

constexpr std::string_view kIntroduction = R"(# Supported operators, types and targets

This page shows what compiles: each operator for each element type and target, each step of a
schedule for each target, and the test cases of ONNX. The last section lists known gaps with their
reasons. The operators' attributes are in [operators.md](reference/operators.md).

A test makes all tables and compares them with this page. `tools/dev bless SupportPage` rewrites
them. The last section is written by hand.

)";

constexpr std::string_view kOperators = R"(## Operators

A cell says for which targets code is generated for data of these types:

- `both`: for `cpu` (x86-64) and `cuda` (NVIDIA GPUs from sm_80 on);
- `reference`: only the reference execution has the operator, no target;
- `-`: type inference rejects the type.

Each cell is derived from the operator's cases in `tests/graph/core/reference_cases.graph`: operands
get the type, and LLVM IR is generated without passes and without a schedule. `cases` is the number
of these cases; the reference execution is compared with NumPy, PyTorch or ONNX on each. `random`
says if random graphs contain the operator (`tests/fuzz`); their compiled results are compared with
the reference. Indices and conditions have separate types. An operator without cases is read,
printed and verified, but not executed.

)";

constexpr std::string_view kSteps = R"(
## Steps of schedules

[schedules.md](reference/schedules.md) describes the steps. `yes` means that the target's code
generator accepts loops with the step. The evidence is the examples in `tests/schedule/golden`;
each is also compared with the interpreter.

)";

constexpr std::string_view kIntrinsics = R"(
The step `tensorize` uses these instructions. A target needs the features. AMX is also emulated by
vector code (`--cpu native,+amx-emulated`).

)";

constexpr std::string_view kOnnx = R"(
## ONNX conformance

`tools/dev onnx-conformance` runs the test cases of the `onnx` wheel through compiled code. These
are its outcomes on a processor (`tests/onnx_conformance/outcomes.txt`). A case with several nodes
counts for "several operators".

)";

std::string Tables() {
  std::string text(kIntroduction);
  text += kOperators;
  text += OperatorTable();
  text += kSteps;
  text += StepTable();
  text += kIntrinsics;
  text += IntrinsicTable();
  text += kOnnx;
  text += OnnxSection();
  return text + "\n";
}

TEST(SupportPage, GoldenIsUpToDate) {
  const std::string path = std::string(TUNEC_TEST_DATA) + "/../docs/support.md";
  const auto page = ReadFile(path);
  ASSERT_TRUE(page) << page.error().message;
  const size_t gaps = page->find(kGaps);
  ASSERT_NE(gaps, std::string::npos) << "the page has no section of known gaps";
  test::ExpectGolden(path, Tables() + page->substr(gaps));
}

}  // namespace
}  // namespace tunec
