#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/cuda/cuda_kernel.h"
#include "support/check.h"

namespace tunec {
namespace {

CuDevicePtr Address(const void* of_device) { return reinterpret_cast<CuDevicePtr>(of_device); }

class CudaDevice : public Device {
 public:
  CudaDevice(std::unique_ptr<Gpu> gpu, std::unique_ptr<CudaTimer> timer)
      : gpu_(std::move(gpu)), timer_(std::move(timer)) {}

  Result<DeviceMemory> Allocate(size_t bytes) override {
    TUNEC_RETURN_IF_ERROR(gpu_->CheckThere());
    const Gpu::Current current(*gpu_);
    CuDevicePtr address = 0;
    const CuResult result = driver().MemAlloc(&address, std::max<size_t>(bytes, 1));
    if (result == CuResult::kOutOfMemory) return NoMemory(bytes);
    TUNEC_RETURN_IF_ERROR(gpu_->Check(result, fmt::format("allocate {} bytes", bytes)));
    const auto free = [gpu = gpu_.get()](void* memory) {
      const Gpu::Current while_freeing(*gpu);
      gpu->driver().MemFree(Address(memory));
    };
    auto* const there = std::bit_cast<void*>(address);
    return DeviceMemory{.owner = std::shared_ptr<void>(there, free), .address = there};
  }

  Status CopyIn(void* to, const void* from, size_t bytes) override {
    return Copy(bytes,
                [&] { return driver().MemcpyHtoDAsync(Address(to), from, bytes, gpu_->stream()); });
  }

  Status CopyOut(void* to, const void* from, size_t bytes) override {
    return Copy(bytes,
                [&] { return driver().MemcpyDtoHAsync(to, Address(from), bytes, gpu_->stream()); });
  }

  Status Fill(void* to, std::byte value, size_t bytes) override {
    TUNEC_RETURN_IF_ERROR(gpu_->CheckThere());
    if (bytes == 0) return {};
    const Gpu::Current current(*gpu_);
    return gpu_->Check(driver().MemsetD8Async(Address(to), static_cast<unsigned char>(value), bytes,
                                              gpu_->stream()),
                       fmt::format("fill {} bytes", bytes));
  }

  Result<std::shared_ptr<const DeviceCode>> Load(const KernelImage& image) override {
    return CudaCode::Load(*gpu_, image);
  }

  Result<std::unique_ptr<DeviceKernel>> Bind(std::shared_ptr<const DeviceCode> code,
                                             std::vector<void*> arguments,
                                             void* workspace) override {
    auto own = std::dynamic_pointer_cast<const CudaCode>(std::move(code));
    TUNEC_CHECK(own != nullptr && &own->gpu() == gpu_.get(), "code of another device");
    TUNEC_CHECK((workspace != nullptr) == (own->workspace_bytes() > 0),
                "a kernel is bound with the wrong workspace");
    TUNEC_RETURN_IF_ERROR(gpu_->CheckThere());
    return BindCudaKernel(*gpu_, *timer_, std::move(own), std::move(arguments), workspace);
  }

  Status Synchronize() override { return gpu_->Synchronize(); }

 private:
  const CudaDriver& driver() const { return gpu_->driver(); }

  // The copy has its place in the stream, and is waited for there.
  template <class Begin>
  Status Copy(size_t bytes, const Begin& begin) {
    TUNEC_RETURN_IF_ERROR(gpu_->CheckThere());
    if (bytes > 0) {
      const Gpu::Current current(*gpu_);
      TUNEC_RETURN_IF_ERROR(gpu_->Check(begin(), fmt::format("copy {} bytes", bytes)));
    }
    return gpu_->Synchronize();
  }

  std::unexpected<Error> NoMemory(size_t bytes) {
    size_t free = 0;
    size_t total = 0;
    const CuResult known = driver().MemGetInfo(&free, &total);
    if (known != CuResult::kSuccess) {
      return Fail(ErrorCode::kResourceLimit, "{} has no {} bytes free", Name(gpu_->facts()), bytes);
    }
    return Fail(ErrorCode::kResourceLimit, "{} has no {} bytes free, only {} of {}",
                Name(gpu_->facts()), bytes, free, total);
  }

  const std::unique_ptr<Gpu> gpu_;
  const std::unique_ptr<CudaTimer> timer_;
};

}  // namespace

Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaDriver& driver, int number) {
  TUNEC_ASSIGN(std::unique_ptr<Gpu> gpu, Gpu::Open(driver, number));
  TUNEC_ASSIGN(std::unique_ptr<CudaTimer> timer, CudaTimer::Make(*gpu));
  return std::make_unique<CudaDevice>(std::move(gpu), std::move(timer));
}

}  // namespace tunec
