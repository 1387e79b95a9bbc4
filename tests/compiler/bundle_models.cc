#include "tests/compiler/bundle_models.h"
#include "tests/compiler/load_sized_bytes.h"

#include <unistd.h>

#include <atomic>
#include <span>

#include "compiler/bundle/compile_sizes.h"
#include "compiler/sized/load_sized.h"
#include "jit/cpu/detect_cpu.h"
#include "support/check.h"
#include "tests/compiler/models.h"

namespace tunec::testing {

BundlePath::BundlePath() {
  static std::atomic<int> number = 0;
  path_ = std::filesystem::temp_directory_path() /
          fmt::format("tunec-bundle-test-{}-{}.tnc", ::getpid(), number++);
}

BundlePath::~BundlePath() {
  std::error_code ignored;  // the file may not exist
  std::filesystem::remove(path_, ignored);
}

CompileOptions OptionsForCpu(std::string_view cpu) {
  CompileOptions options = Options();
  const auto target = ParseCpu(cpu, 2);
  TUNEC_CHECK(target.has_value(), "{}", target.error().Format());
  options.target = *target;
  return options;
}

BundleVariant VariantOf(const Graph& graph, std::string_view cpu) {
  auto variant = CompileVariant(graph, nullptr, OptionsForCpu(cpu), std::string(cpu));
  TUNEC_CHECK(variant.has_value(), "{}", variant.error().Format());
  return *std::move(variant);
}

SizedSource SourceOf(std::string_view text, const std::vector<std::string>& dimensions) {
  ModelOptions options;
  options.random_weights = 7;
  for (const std::string& name : dimensions) options.dims[name] = {{12, 20}};
  auto source = testing::LoadSizedBytes(std::as_bytes(std::span(text)), "graph", options);
  TUNEC_CHECK(source.has_value(), "{}", source.error().Format());
  return *std::move(source);
}

BundleVariant SizedVariantOf(const SizedSource& source, const std::vector<ListedSizes>& listed,
                             std::string_view cpu) {
  auto variant = CompileSizedVariant(source, listed, nullptr, OptionsForCpu(cpu), std::string(cpu));
  TUNEC_CHECK(variant.has_value(), "{}", variant.error().Format());
  return *std::move(variant);
}

}  // namespace tunec::testing
