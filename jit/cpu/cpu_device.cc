#include "jit/cpu/cpu_device.h"

#include <cstring>
#include <utility>

#include "jit/cpu/load.h"
#include "runtime/buffer.h"
#include "runtime/kernel_run.h"
#include "support/stopwatch.h"

namespace tunec {
namespace {

class CpuKernel final : public DeviceKernel {
 public:
  CpuKernel(KernelRun run, ThreadPool& pool) : run_(std::move(run)), pool_(pool) {}

  void Launch() override { run_.Run(pool_); }
  double Seconds(int times) override {
    const Stopwatch watch;
    for (int i = 0; i < times; ++i) Launch();
    return watch.Milliseconds() / 1e3;
  }
  void Poison() override { run_.Poison(); }

 private:
  KernelRun run_;
  ThreadPool& pool_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(ThreadPool& pool) : pool_(pool) {}

  Result<DeviceMemory> Allocate(size_t bytes) override {
    TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(bytes));
    const auto owner = std::make_shared<Buffer>(std::move(buffer));
    return DeviceMemory{.owner = owner, .address = owner->data(), .on_host = owner->data()};
  }
  Status CopyIn(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return {};
  }
  Status CopyOut(void* to, const void* from, size_t bytes) override {
    return CopyIn(to, from, bytes);
  }
  Result<std::unique_ptr<DeviceKernel>> Load(const KernelImage& image,
                                             std::vector<void*> arguments) override {
    TUNEC_ASSIGN(Kernel kernel, LoadKernel(image));
    TUNEC_ASSIGN(KernelRun run,
                 KernelRun::Make(std::move(kernel), std::move(arguments), pool_.threads()));
    return std::make_unique<CpuKernel>(std::move(run), pool_);
  }
  Status Synchronize() override { return {}; }

 private:
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Device> MakeCpuDevice(ThreadPool& pool) {
  return std::make_unique<CpuDevice>(pool);
}

}  // namespace tunec
