#include "runtime/host_device.h"

#include <cstring>
#include <utility>

#include "runtime/buffer.h"
#include "runtime/kernel_run.h"
#include "support/check.h"
#include "support/stopwatch.h"

namespace tunec {
namespace {

using LoadImage = std::function<Result<Kernel>(const KernelImage&)>;
using WrapOwner = std::function<std::shared_ptr<void>(std::shared_ptr<void>, const void*, size_t)>;

class HostCode final : public DeviceCode {
 public:
  explicit HostCode(Kernel kernel) : kernel_(std::move(kernel)) {}
  const Kernel* OnHost() const override { return &kernel_; }

 private:
  Kernel kernel_;
};

class HostKernel final : public DeviceKernel {
 public:
  HostKernel(KernelRun run, ThreadPool& pool) : run_(std::move(run)), pool_(pool) {}

  void SetArgument(size_t number, void* address) override { run_.SetArgument(number, address); }
  void Start() override { run_.Run(pool_); }
  Result<double> Seconds(int times) override {
    const Stopwatch watch;
    for (int i = 0; i < times; ++i) Start();
    return watch.Milliseconds() / 1e3;
  }
  void Poison() override { run_.Poison(); }

 private:
  KernelRun run_;
  ThreadPool& pool_;
};

// The host as a device. The object has no mutable state, so each queue is a separate HostDevice.
class HostDevice final : public Device {
 public:
  HostDevice(ThreadPool& pool, LoadImage load, WrapOwner wrap_owner)
      : pool_(pool), load_(std::move(load)), wrap_owner_(std::move(wrap_owner)) {}

  Result<std::unique_ptr<Device>> OpenQueue() override {
    return std::make_unique<HostDevice>(pool_, load_, wrap_owner_);
  }
  Result<DeviceMemory> Allocate(size_t bytes) override {
    TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(bytes));
    const auto owner = std::make_shared<Buffer>(std::move(buffer));
    std::byte* const data = owner->data();
    return DeviceMemory{.owner = wrap_owner_(owner, data, bytes), .address = data, .on_host = data};
  }
  Status CopyIn(void* to, const void* from, size_t bytes) override {
    StartCopy(to, from, bytes);
    return {};
  }
  Status CopyOut(void* to, const void* from, size_t bytes) override {
    StartCopy(to, from, bytes);
    return {};
  }
  void StartCopyIn(void* to, const void* from, size_t bytes) override {
    StartCopy(to, from, bytes);
  }
  void StartCopyOut(void* to, const void* from, size_t bytes) override {
    StartCopy(to, from, bytes);
  }
  void StartCopy(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  Status Fill(void* to, std::byte value, size_t bytes) override {
    if (bytes > 0) std::memset(to, static_cast<int>(value), bytes);
    return {};
  }
  Result<std::shared_ptr<const DeviceCode>> Load(const KernelImage& image) override {
    TUNEC_ASSIGN(Kernel kernel, load_(image));
    return std::make_shared<const HostCode>(std::move(kernel));
  }
  Result<std::unique_ptr<DeviceKernel>> Bind(std::shared_ptr<const DeviceCode> code,
                                             std::vector<void*> arguments,
                                             void* workspace) override {
    const Kernel* const kernel = code->OnHost();
    TUNEC_CHECK(kernel != nullptr, "code of another device is bound on the host");
    TUNEC_ASSIGN(KernelRun run,
                 KernelRun::Make(*kernel, std::move(arguments), pool_.threads(), workspace));
    return std::make_unique<HostKernel>(std::move(run), pool_);
  }
  Status Synchronize() override { return {}; }

 private:
  ThreadPool& pool_;
  LoadImage load_;
  WrapOwner wrap_owner_;
};

}  // namespace

std::unique_ptr<Device> MakeHostDevice(ThreadPool& pool, LoadImage load, WrapOwner wrap_owner) {
  return std::make_unique<HostDevice>(pool, std::move(load), std::move(wrap_owner));
}

}  // namespace tunec
