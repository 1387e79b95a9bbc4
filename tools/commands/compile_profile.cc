// `tunec compile-profile MODEL` compiles a model and reports where the compilation spends time.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "compiler/kernel_build.h"
#include "support/file.h"
#include "support/trace.h"
#include "tools/commands/commands.h"
#include "tools/options/model_options.h"
#include "tools/runs/trace_tables.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

struct ProfileArguments {
  CompileArguments compile;
  std::string trace;
  bool json = false;
};

/// Prints the header and the first `rows` rows of a table, then the number of further rows.
void PrintRows(const TextTable& table, size_t rows) {
  const std::vector<std::string> lines = table.Lines();
  for (size_t i = 0; i < lines.size() && i <= rows; ++i) fmt::print("{}\n", lines[i]);
  if (lines.size() > rows + 1) fmt::print("and {} more\n", lines.size() - rows - 1);
}

Result<int> ProfileCompile(const ProfileArguments& arguments) {
  CatchInterrupts();
  const TraceRecording recording;
  double seconds = SecondsNow();
  TUNEC_ASSIGN(Session session, OpenRunnable(arguments.compile));
  TUNEC_ASSIGN(const CompiledModel model,
               Compile(session.graph, session.database.get(), session.options));
  seconds = SecondsNow() - seconds;
  const std::vector<TraceSpan> spans = recording.Spans();
  if (!arguments.trace.empty())
    TUNEC_RETURN_IF_ERROR(WriteFileAtomically(arguments.trace, TraceEvents(spans).dump()));
  const TextTable stages = StageTable(spans);
  const TextTable kernels = SpanTable(spans, kKernelTrace);
  if (arguments.json) {
    PrintJson({{"model", arguments.compile.model},
               {"compile_ms", 1e3 * seconds},
               {"objects_compiled", model.report.objects_compiled},
               {"objects_reused", model.report.objects_reused},
               {"stages", stages.Json()},
               {"kernels", kernels.Json()}});
    return kExitOk;
  }
  fmt::print("{} compiled in {}, {} reused\n\n", CountText(model.report.objects_compiled, "object"),
             DurationText(seconds), model.report.objects_reused);
  constexpr size_t kMostRows = 20;
  PrintRows(stages, kMostRows);
  fmt::print("\n");
  PrintRows(kernels, kMostRows);
  return kExitOk;
}

}  // namespace

void AddCompileProfileCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<ProfileArguments>();
  CLI::App& command = AddSubcommand(root, invocation, "compile-profile",
                                    "compile a model, and report the time of each stage and kernel",
                                    arguments, ProfileCompile);
  AddCompileArguments(command, arguments->compile);
  command
      .add_option("--trace", arguments->trace,
                  "a file to write, in Chrome's trace format: a flame graph for ui.perfetto.dev")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "print JSON");
}

}  // namespace tunec
