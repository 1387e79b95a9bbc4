#include "tools/commands/verify_passes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/terminal/report_error.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

std::string Change(int64_t before, int64_t after) {
  return before == after ? fmt::format("{}", after) : fmt::format("{} -> {}", before, after);
}

std::string Numerics(const PassAnswers& answers) {
  if (!answers.lint.empty()) return "not run";
  const std::string on = CountText(answers.inputs, "input set");
  if (answers.error == 0) return "equal on " + on;
  return fmt::format("{:.2g} at {} on {}", answers.error, answers.worst_output, on);
}

}  // namespace

Result<int> PrintPassAnswers(const Graph& graph, const std::vector<std::string>& names,
                             const std::vector<InputSet>& inputs, const PassOptions& options,
                             const PassReport& report) {
  TUNEC_ASSIGN(const std::vector<PassAnswers> all, VerifyPasses(graph, names, inputs, options));
  TextTable table({{"pass"},
                   {"nodes", Align::kRight},
                   {"numerics (max error)", Align::kLeft, "numerics"},
                   {"lint"},
                   {"parameters", Align::kRight},
                   {"verdict"}});
  bool right = true;
  for (const PassAnswers& answers : all) {
    const bool ok = answers.IsRight(report.tolerance);
    right = right && ok;
    table.AddRow({answers.pass, Change(answers.nodes_before, answers.nodes_after),
                  Numerics(answers), answers.lint.empty() ? "ok" : answers.lint,
                  Change(answers.parameters_before, answers.parameters_after),
                  ok ? "ok" : "wrong"});
  }
  if (report.form == OutputForm::kJson) {
    PrintJson({{"passes", table.Json()}, {"ok", right}});
  } else {
    fmt::print("{}", table.Print());
  }
  if (right) return kExitOk;
  fmt::print(stderr,
             "error: a pass breaks the graph or changes outputs by more than {:g} of their "
             "largest magnitude\n",
             report.tolerance);
  return kExitFailure;
}

}  // namespace tunec
