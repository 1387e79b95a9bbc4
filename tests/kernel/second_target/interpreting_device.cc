#include "tests/kernel/second_target/interpreting_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <functional>
#include <utility>

#include "ir/array_storage.h"
#include "ir/interpret/interpret.h"
#include "tests/kernel/second_target/printing_generator.h"

namespace tunec::second_target {
namespace {

Status Run(const LoopNest& nest, const std::vector<void*>& addresses) {
  const std::vector<TensorId> order = tunec::Arguments(nest);
  std::vector<Array> arguments;
  for (size_t i = 0; i < order.size(); ++i) {
    const Tensor& tensor = nest.tensors[order[i]];
    if (tensor.role == TensorRole::kOutput) continue;
    arguments.push_back(FromStorage(tensor, static_cast<const std::byte*>(addresses[i])));
  }
  TUNEC_ASSIGN(const std::vector<Array> outputs, Interpret(nest, arguments, Precision::kNative));
  size_t next = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Tensor& tensor = nest.tensors[order[i]];
    if (tensor.role != TensorRole::kOutput) continue;
    ToStorage(tensor, outputs[next++], static_cast<std::byte*>(addresses[i]));
  }
  return {};
}

// What was started, in order, and not done yet.
using Stream = std::vector<std::function<Status()>>;

class InterpretedKernel : public DeviceKernel {
 public:
  InterpretedKernel(LoopNest nest, KernelImage image, std::vector<void*> arguments, Stream& stream,
                    std::vector<std::string>& log)
      : nest_(std::move(nest)),
        image_(std::move(image)),
        arguments_(std::move(arguments)),
        stream_(stream),
        log_(log) {}

  void Launch() override {
    for (const KernelLaunch& launch : image_.launches) {
      log_.push_back(fmt::format("launch {} grid {} block {} shared {}", launch.symbol,
                                 fmt::join(launch.grid, "x"), fmt::join(launch.block, "x"),
                                 launch.shared_bytes));
    }
    stream_.push_back([this] { return Run(nest_, arguments_); });
  }
  double Seconds(int times) override { return times; }  // by a clock of its own
  void Poison() override {}

 private:
  LoopNest nest_;
  KernelImage image_;
  std::vector<void*> arguments_;
  Stream& stream_;
  std::vector<std::string>& log_;
};

class InterpretingDevice : public Device {
 public:
  explicit InterpretingDevice(std::vector<std::string>& log) : log_(log) {}

  Result<DeviceMemory> Allocate(size_t bytes) override {
    log_.push_back(fmt::format("allocate {}", bytes));
    const auto owner = std::make_shared<std::vector<std::byte>>(bytes);
    return DeviceMemory{.owner = owner, .address = owner->data()};
  }
  Status CopyIn(void* to, const void* from, size_t bytes) override {
    log_.push_back(fmt::format("copy {} in", bytes));
    std::memcpy(to, from, bytes);
    return {};
  }
  Status CopyOut(void* to, const void* from, size_t bytes) override {
    TUNEC_RETURN_IF_ERROR(Synchronize());
    log_.push_back(fmt::format("copy {} out", bytes));
    std::memcpy(to, from, bytes);
    return {};
  }
  Result<std::unique_ptr<DeviceKernel>> Load(const KernelImage& image,
                                             std::vector<void*> arguments) override {
    if (image.format != kTextFormat) return Fail(ErrorCode::kParse, "no text of loops");
    TUNEC_ASSIGN(LoopNest nest, ParseLoopNest(image.bytes, "image"));
    log_.push_back(fmt::format("load {}", nest.name));
    return std::make_unique<InterpretedKernel>(std::move(nest), image, std::move(arguments),
                                               stream_, log_);
  }
  Status Synchronize() override {
    for (const auto& work : std::exchange(stream_, {})) TUNEC_RETURN_IF_ERROR(work());
    return {};
  }

 private:
  std::vector<std::string>& log_;
  Stream stream_;
};

}  // namespace

std::unique_ptr<Device> MakeInterpretingDevice(std::vector<std::string>& log) {
  return std::make_unique<InterpretingDevice>(log);
}

}  // namespace tunec::second_target
