// `tunec build MODEL -o FILE` compiles a model into a bundle or a shared library.
#include <CLI/CLI.hpp>

#include "compiler/bundle/compile_sizes.h"
#include "compiler/bundle/model_header.h"
#include "compiler/bundle/write_bundle.h"
#include "compiler/bundle/write_library.h"
#include "runtime/bundle/choose_variant.h"
#include "support/file.h"
#include "tools/commands/commands.h"
#include "tools/model_template.h"
#include "tools/options/model_options.h"
#include "tools/terminal/interrupt.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

struct BuildArguments {
  CompileArguments compile;
  std::vector<std::string> cpus;   // one variant for each CPU
  std::vector<std::string> archs;  // one variant for each GPU architecture
  std::string output;
  bool shared = false;  // write a shared library
};

/// Returns the settings of each variant, those for GPUs first. Fails for unsuitable options.
Result<std::vector<Settings>> VariantsOf(const BuildArguments& arguments) {
  const Settings& given = arguments.compile.settings;
  const bool for_gpus = given.target != Settings().target;
  if (given.emulate)
    return Fail(ErrorCode::kInvalidArgument, "a bundle is for GPUs: emulated kernels stay here");
  if (!for_gpus && !arguments.archs.empty())
    return Fail(ErrorCode::kInvalidArgument, "arch is for the target cuda");
  std::vector<Settings> variants;
  if (for_gpus) {
    std::vector<std::string> archs = arguments.archs;
    if (archs.empty()) archs.emplace_back();  // the architecture of the GPU in this machine
    for (const std::string& arch : archs) variants.emplace_back(given).arch = arch;
  }
  std::vector<std::string> cpus = arguments.cpus;
  if (cpus.empty() && !for_gpus) cpus.push_back(given.cpu);
  for (const std::string& cpu : cpus) {
    Settings& variant = variants.emplace_back(given);
    variant.cpu = cpu;
    const Settings plain;  // default settings, to reset those of the GPU
    variant.target = plain.target;
    variant.gpu = plain.gpu;
    variant.device = plain.device;
    variant.hang_seconds = plain.hang_seconds;
  }
  return variants;
}

Result<BundleVariant> BuildVariant(const BuildArguments& arguments, const Settings& settings) {
  CompileArguments compile = arguments.compile;
  compile.settings = settings;
  if (HasSeveralSizes(settings)) {
    TUNEC_ASSIGN(const SizedSession session, OpenSizedSession(compile));
    return CompileSizedVariant(session.source, session.listed, session.database.get(),
                               session.options, settings.cpu);
  }
  TUNEC_ASSIGN(const Session session, OpenRunnable(compile, {}, OpenSizes::kRejected));
  return CompileVariant(session.graph, session.database.get(), session.options, settings.cpu);
}

void PrintVariant(const BundleVariant& variant) {
  size_t code = variant.image.size();
  for (const KernelImage& image : variant.device_code.images) code += image.bytes.size();
  const size_t kernels = variant.kernels.size() + variant.device_code.kernels.size();
  const size_t plans = variant.sizes ? variant.sizes->plans.size() : 0;
  fmt::print("{}: {}{}, {} of code\n", Name(variant.head),
             plans > 0 ? CountText(static_cast<int64_t>(plans), "executable") + ", " : "",
             CountText(static_cast<int64_t>(kernels), "kernel"),
             BytesText(static_cast<double>(code)));
}

void PrintFile(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  fmt::print("{}: {}\n", path.string(), BytesText(unknown ? 0 : static_cast<double>(bytes)));
}

/// Writes the library and a C header in the same folder, and prints the sizes of both files.
Status WriteShared(const std::filesystem::path& path, std::vector<BundleVariant> variants) {
  const std::string model = ModelNameOf(path);
  const BundleVariant& first = variants.front();
  const ModelTensors tensors =
      first.sizes ? ModelTensors{first.sizes->form.inputs, first.sizes->form.outputs}
                  : ModelTensors{first.plan.inputs, first.plan.outputs};
  const std::string text = ModelHeader(model, path.filename().string(), tensors);
  const std::filesystem::path header = path.parent_path() / (model + ".h");
  TUNEC_RETURN_IF_ERROR(
      WriteLibrary(path, ModelTemplate(), model, MakeBundle(std::move(variants))));
  TUNEC_RETURN_IF_ERROR(WriteFileAtomically(header, text));
  PrintFile(path);
  PrintFile(header);
  return {};
}

Status CheckOutput(const BuildArguments& arguments) {
  const std::filesystem::path path = arguments.output;
  if (!arguments.shared || path.filename().string().contains(".so")) return {};
  return Fail(ErrorCode::kInvalidArgument, "a library's name is model.so or libmodel.so, got '{}'",
              arguments.output);
}

Result<int> Build(const BuildArguments& arguments) {
  CatchInterrupts();
  TUNEC_RETURN_IF_ERROR(CheckOutput(arguments));
  TUNEC_ASSIGN(const std::vector<Settings> requested, VariantsOf(arguments));
  std::vector<BundleVariant> variants;
  for (const Settings& settings : requested) {
    TUNEC_ASSIGN(variants.emplace_back(), BuildVariant(arguments, settings));
    PrintVariant(variants.back());
  }
  if (arguments.shared) {
    TUNEC_RETURN_IF_ERROR(WriteShared(arguments.output, std::move(variants)));
    return kExitOk;
  }
  TUNEC_RETURN_IF_ERROR(WriteBundle(arguments.output, std::move(variants)));
  PrintFile(arguments.output);
  return kExitOk;
}

/// Replaces the command's option `flag` with a list option that stores its values in `names`.
void AddEach(CLI::App& command, const std::string& flag, std::vector<std::string>& names,
             const std::string& help) {
  command.remove_option(command.get_option(flag));
  command.add_option(flag, names, help)
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void AddBuildCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<BuildArguments>();
  CLI::App& command = AddSubcommand(root, invocation, "build",
                                    "write a bundle, which runs without tunec", arguments, Build);
  AddCompileArguments(command, arguments->compile);
  AddEach(command, "--cpu", arguments->cpus,
          "native or an LLVM processor name, with ,-feature or ,+feature (default native; with "
          "cuda none); may be repeated: the first that fits is run");
  AddEach(command, "--arch", arguments->archs,
          "with cuda: what GPUs to compile for, sm_80 or later (default that of the first one "
          "here); may be repeated");
  command.add_flag(
      "--shared", arguments->shared,
      "write a shared library that holds the bundle and the runtime, and its C header");
  command.add_option("-o,--output", arguments->output, "the bundle or the library")
      ->required()
      ->type_name("FILE");
}

}  // namespace tunec
