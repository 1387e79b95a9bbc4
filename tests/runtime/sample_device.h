// A device that runs hand-written kernels on the CPU. Its memory is initialised to NaN. Copies and
// kernels that are started run when a caller waits for them.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "runtime/kernel_run.h"
#include "runtime/thread_pool.h"
#include "support/check.h"

namespace tunec {

/// The numbers of operations of a SampleDevice and its queues.
struct DeviceLog {
  std::atomic<int> queues = 0;  // opened by OpenQueue
  std::atomic<int> copies_in = 0;
  std::atomic<int> copies_out = 0;
  std::atomic<int> copies_within = 0;
  std::atomic<int> kernels = 0;
  std::atomic<int> waits = 0;
  std::atomic<int> rebound = 0;  // calls of SetArgument
  std::atomic<int> allocated = 0;
};

struct SampleCode : DeviceCode {
  explicit SampleCode(Kernel kernel) : kernel(std::move(kernel)) {}
  Kernel kernel;
};

class SampleDevice : public Device {
 public:
  static constexpr int kNumber = 3;

  explicit SampleDevice(DeviceLog& log, size_t memory = SIZE_MAX) : log_(log), memory_(memory) {
    started_.reserve(256);
  }

  Result<std::unique_ptr<Device>> OpenQueue() override {
    ++log_.queues;
    return std::make_unique<SampleDevice>(log_, memory_);
  }
  std::optional<int> Number() const override { return kNumber; }
  Status CheckRoom(std::span<const MemoryNeed> needs) override {
    int64_t sum = 0;
    for (const MemoryNeed& need : needs) sum += need.bytes;
    if (static_cast<size_t>(sum) <= memory_) return {};
    return Fail(ErrorCode::kResourceLimit, "{} {}, {} {}, {} {}", needs[0].what, needs[0].bytes,
                needs[1].what, needs[1].bytes, needs[2].what, needs[2].bytes);
  }
  Result<DeviceMemory> Allocate(size_t bytes) override {
    ++log_.allocated;
    const size_t rounded = (bytes / 64 + 1) * 64;
    const std::shared_ptr<void> owner(std::aligned_alloc(64, rounded), std::free);
    std::memset(owner.get(), 0xff, rounded);
    return DeviceMemory{.owner = owner, .address = owner.get()};
  }
  Status CopyIn(void* to, const void* from, size_t bytes) override {
    StartCopyIn(to, from, bytes);
    return Synchronize();
  }
  Status CopyOut(void* to, const void* from, size_t bytes) override {
    StartCopyOut(to, from, bytes);
    return Synchronize();
  }
  void StartCopyIn(void* to, const void* from, size_t bytes) override {
    ++log_.copies_in;
    started_.push_back({nullptr, to, from, bytes});
  }
  void StartCopyOut(void* to, const void* from, size_t bytes) override {
    ++log_.copies_out;
    started_.push_back({nullptr, to, from, bytes});
  }
  void StartCopy(void* to, const void* from, size_t bytes) override {
    ++log_.copies_within;
    started_.push_back({nullptr, to, from, bytes});
  }
  Status Fill(void* to, std::byte value, size_t bytes) override {
    std::memset(to, static_cast<int>(value), bytes);
    return {};
  }
  Result<std::shared_ptr<const DeviceCode>> Load(const KernelImage&) override {
    TUNEC_UNREACHABLE("its code is written by hand");
  }
  Result<std::unique_ptr<DeviceKernel>> Bind(std::shared_ptr<const DeviceCode> code,
                                             std::vector<void*> arguments,
                                             void* workspace) override {
    const auto own = std::dynamic_pointer_cast<const SampleCode>(std::move(code));
    TUNEC_CHECK(own != nullptr, "code of another device");
    TUNEC_ASSIGN(KernelRun run, KernelRun::Make(own->kernel, std::move(arguments), 1, workspace));
    return std::make_unique<SampleKernel>(std::move(run), *this);
  }
  Status Synchronize() override {
    ++log_.waits;
    for (const Work& work : started_) {
      if (work.kernel != nullptr) {
        work.kernel->Run(pool_);
      } else if (work.bytes > 0) {
        std::memcpy(work.to, work.from, work.bytes);
      }
    }
    started_.clear();
    return {};
  }

 private:
  struct Work {
    KernelRun* kernel = nullptr;  // null for a copy
    void* to = nullptr;
    const void* from = nullptr;
    size_t bytes = 0;
  };

  class SampleKernel : public DeviceKernel {
   public:
    SampleKernel(KernelRun run, SampleDevice& device) : run_(std::move(run)), device_(device) {}
    void SetArgument(size_t number, void* address) override {
      ++device_.log_.rebound;
      run_.SetArgument(number, address);
    }
    void Start() override {
      ++device_.log_.kernels;
      device_.started_.push_back({.kernel = &run_});
    }
    Result<double> Seconds(int times) override {
      for (int i = 0; i < times; ++i) Start();
      TUNEC_RETURN_IF_ERROR(device_.Synchronize());
      return 1e-3 * times;
    }
    void Poison() override { run_.Poison(); }

   private:
    KernelRun run_;
    SampleDevice& device_;
  };

  DeviceLog& log_;
  const size_t memory_;
  ThreadPool pool_{1};
  std::vector<Work> started_;
};

}  // namespace tunec
