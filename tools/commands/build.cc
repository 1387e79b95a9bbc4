// `tunec build MODEL -o FILE`: a model into a bundle, which runs without a compiler.
#include <CLI/CLI.hpp>

#include "compiler/bundle/write_bundle.h"
#include "support/file.h"
#include "tools/commands/commands.h"
#include "tools/options/model_options.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

struct BuildArguments {
  CompileArguments compile;
  std::vector<std::string> cpus;  // a variant each
  std::string output;
};

Result<BundleVariant> BuildVariant(const BuildArguments& arguments, const std::string& cpu) {
  CompileArguments compile = arguments.compile;
  compile.settings.cpu = cpu;
  TUNEC_ASSIGN(const Session session, OpenRunnable(compile));
  return CompileVariant(session.graph, session.database.get(), session.options, cpu);
}

Result<int> Build(const BuildArguments& arguments) {
  CatchInterrupts();
  std::vector<std::string> cpus = arguments.cpus;
  if (cpus.empty()) cpus.push_back(arguments.compile.settings.cpu);
  std::vector<BundleVariant> variants;
  for (const std::string& cpu : cpus) {
    TUNEC_ASSIGN(BundleVariant variant, BuildVariant(arguments, cpu));
    fmt::print("cpu {}: {}, {} of code\n", cpu, CountText(std::ssize(variant.kernels), "kernel"),
               BytesText(static_cast<double>(variant.image.size())));
    variants.push_back(std::move(variant));
  }
  TUNEC_RETURN_IF_ERROR(WriteBundle(arguments.output, std::move(variants)));
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(arguments.output, unknown);
  fmt::print("{}: {}\n", arguments.output, BytesText(unknown ? 0 : static_cast<double>(bytes)));
  return kExitOk;
}

}  // namespace

void AddBuildCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<BuildArguments>();
  CLI::App& command = AddSubcommand(root, invocation, "build",
                                    "write a bundle, which runs without tunec", arguments, Build);
  AddCompileArguments(command, arguments->compile);
  // In the place of the setting, which is one processor.
  command.remove_option(command.get_option("--cpu"));
  command
      .add_option("--cpu", arguments->cpus,
                  "native or an LLVM processor name, with ,-feature or ,+feature (default native); "
                  "may be repeated: the first that fits is run")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("-o,--output", arguments->output, "the bundle")->required()->type_name("FILE");
}

}  // namespace tunec
