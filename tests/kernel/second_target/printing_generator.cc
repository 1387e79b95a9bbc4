#include "tests/kernel/second_target/printing_generator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunec::second_target {
namespace {

// Returns the launch of a phase. Loops over blocks give the grid. Tasks of a CPU's schedule are
// blocks along x.
PhaseLaunch LaunchFor(const LoopNest& nest, const StoragePlan& plan, size_t number) {
  const Phase& phase = nest.phases[number];
  const Launch shape = LaunchOf(phase);
  PhaseLaunch launch{.symbol = fmt::format("{}_phase{}", nest.name, number),
                     .grid = shape.grid,
                     .block = shape.block,
                     .waves = CountWaves(phase),
                     .shared_bytes = plan.shared_bytes[number]};
  if (launch.Blocks() != CountTasks(phase)) launch.grid = {CountTasks(phase), 1, 1};
  return launch;
}

class PrintingGenerator : public CodeGenerator {
 public:
  std::string_view Name() const override { return kKind; }
  std::string Version() const override { return "printer 1"; }
  // Returns no stages, because the interpreter runs loops over threads directly.
  std::span<const NestStage> Stages() const override { return {}; }

  Result<KernelImage> Compile(const LoopNest& nest, const Target& target) const override {
    const StoragePlan plan = PlanStorage(nest);
    KernelImage image{.format = std::string(kTextFormat)};
    for (size_t phase = 0; phase < nest.phases.size(); ++phase) {
      const PhaseLaunch launch = LaunchFor(nest, plan, phase);
      if (launch.shared_bytes > target.device->shared_bytes) {
        return Fail(ErrorCode::kResourceLimit, "{} shares {} bytes in a block, {} has {}",
                    launch.symbol, launch.shared_bytes, target.device->name,
                    target.device->shared_bytes);
      }
      image.bytes += fmt::format("# launch {} grid {} block {} shared {}\n", launch.symbol,
                                 fmt::join(launch.grid, "x"), fmt::join(launch.block, "x"),
                                 launch.shared_bytes);
      image.phases.push_back(launch);
    }
    image.bytes += Print(nest);
    image.workspace_bytes = plan.workspace_bytes;
    return image;
  }

  Result<std::string> Show(const LoopNest& nest, const Target& target, CodeText) const override {
    TUNEC_ASSIGN(const KernelImage image, Compile(nest, target));
    return image.bytes;
  }
};

}  // namespace

Target PrinterWith(int64_t shared_bytes) {
  return {.device = Accelerator{
              .kind = std::string(kKind), .name = "paper", .shared_bytes = shared_bytes}};
}

std::shared_ptr<const CodeGenerator> MakePrintingGenerator() {
  return std::make_shared<PrintingGenerator>();
}

}  // namespace tunec::second_target
