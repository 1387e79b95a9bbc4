#include "tests/compiler/bundle_models.h"

#include <unistd.h>

#include <atomic>

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
  std::error_code ignored;  // it may never have been written
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

}  // namespace tunec::testing
