#include "tools/options/model_options.h"

#include <CLI/CLI.hpp>

#include "compiler/sized/lay_source.h"
#include "graph/open_dimensions.h"
#include "tools/options/setting_options.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/report_error.h"

namespace tunec {

CLI::Validator HideDescription(const CLI::Validator& validator) {
  return validator.description("");
}

CLI::Option& AddModel(CLI::App& command, std::string& path) {
  return *command.add_option("MODEL", path, "an .onnx or .graph file")
              ->required()
              ->type_name("FILE");
}

void AddCompileArguments(CLI::App& command, CompileArguments& arguments) {
  AddModel(command, arguments.model);
  AddAllSettings(command, arguments.settings);
}

namespace {

Result<CompileOptions> OptionsOf(const CompileArguments& arguments) {
  TUNEC_ASSIGN(CompileOptions options, MakeCompileOptions(arguments.settings));
  options.cancelled = Interrupted;
  options.on_log = PrintNote;
  if (arguments.settings.verbose) options.on_detail = options.on_log;
  return options;
}

/// Prints a line about sizes that were not given.
void PrintDefaultSizes(const DefaultSizes& sizes) {
  if (sizes.empty()) return;
  std::string flags;
  for (const auto& [name, size] : sizes) flags += fmt::format(" --dim {}={}", name, size);
  PrintNote(fmt::format("sizes that are not given have defaults, as with{}", flags));
}

}  // namespace

Result<SizedSession> OpenSizedSession(const CompileArguments& arguments) {
  SizedSession session;
  TUNEC_ASSIGN(session.options, OptionsOf(arguments));
  TUNEC_ASSIGN(session.database, OpenDatabase(arguments.settings, session.options.on_log));
  TUNEC_ASSIGN(SizedSource source, LoadSizedModel(arguments.model, arguments.settings));
  TUNEC_ASSIGN(session.source, ApplySourceLayouts(std::move(source), arguments.settings.layouts));
  TUNEC_ASSIGN(session.listed, ListedSizesOf(session.source, arguments.settings));
  return session;
}

Result<Session> OpenSession(const CompileArguments& arguments) {
  TUNEC_ASSIGN(CompileOptions options, OptionsOf(arguments));
  TUNEC_ASSIGN(std::unique_ptr<Database> database,
               OpenDatabase(arguments.settings, options.on_log));
  TUNEC_ASSIGN(LoadedModel model, LoadModelOfFiles(arguments.model, arguments.settings));
  PrintDefaultSizes(model.default_sizes);
  return Session{std::move(model.graph), std::move(options), std::move(database)};
}

Result<Session> OpenRunnable(const CompileArguments& arguments, std::span<const NamedArray> arrays,
                             OpenSizes open_sizes) {
  CompileArguments shaped = arguments;
  shaped.settings.open_sizes = open_sizes;
  for (const NamedArray& array : arrays)
    shaped.settings.shapes_of_arrays.emplace(array.spec.name, array.spec.shape);
  TUNEC_ASSIGN(Session session, OpenSession(shaped));
  // Fails before anything is compiled if a dimension is open.
  TUNEC_RETURN_IF_ERROR(RequireFixedSizes(session.graph));
  return session;
}

}  // namespace tunec
