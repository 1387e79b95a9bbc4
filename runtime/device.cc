#include "runtime/device.h"

#include <utility>

namespace tunec {
namespace {

// A sequence that starts its kernels one by one, for devices without sequences.
class LaunchSequence final : public DeviceSequence {
 public:
  explicit LaunchSequence(std::vector<std::unique_ptr<DeviceKernel>> kernels)
      : kernels_(std::move(kernels)) {}

  void SetArgument(size_t kernel, size_t argument, void* address) override {
    kernels_[kernel]->SetArgument(argument, address);
  }
  void Start() override {
    for (const auto& kernel : kernels_) kernel->Start();
  }
  Result<double> Seconds(size_t kernel) override { return kernels_[kernel]->Seconds(1); }
  Result<double> SecondsOfAll(int times) override {
    double sum = 0;
    for (int i = 0; i < times; ++i) {
      for (const auto& kernel : kernels_) {
        TUNEC_ASSIGN(const double seconds, kernel->Seconds(1));
        sum += seconds;
      }
    }
    return sum;
  }

 private:
  std::vector<std::unique_ptr<DeviceKernel>> kernels_;
};

}  // namespace

Status Device::UseStream(void* stream) {
  if (stream == nullptr) return {};
  return Fail(ErrorCode::kUnsupported, "the device that the model runs on has no streams");
}

Status Device::Mark() {
  return Fail(ErrorCode::kUnsupported, "the device that the model runs on has no streams");
}

void Device::StartCopyRows(CopyWay way, void* to, const void* from, const CopiedRows& rows) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  for (size_t r = 0; r < rows.rows; ++r) {
    switch (way) {
      case CopyWay::kIn:
        StartCopyIn(target, source, rows.row_bytes);
        break;
      case CopyWay::kOut:
        StartCopyOut(target, source, rows.row_bytes);
        break;
      case CopyWay::kWithin:
        StartCopy(target, source, rows.row_bytes);
        break;
    }
    target += rows.target_pitch;
    source += rows.source_pitch;
  }
}

Status Device::CheckRoom(std::span<const MemoryNeed>) { return {}; }

Result<std::unique_ptr<DeviceSequence>> Device::Record(std::vector<DeviceCall> calls) {
  std::vector<std::unique_ptr<DeviceKernel>> kernels;
  for (DeviceCall& call : calls) {
    TUNEC_ASSIGN(auto kernel,
                 Bind(std::move(call.code), std::move(call.arguments), call.workspace));
    kernels.push_back(std::move(kernel));
  }
  return std::make_unique<LaunchSequence>(std::move(kernels));
}

}  // namespace tunec
