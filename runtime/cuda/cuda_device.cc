#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "runtime/cuda/cuda_kernel.h"
#include "runtime/cuda/cuda_sequence.h"
#include "support/check.h"

namespace tunec {
namespace {

CuDevicePtr Address(const void* of_device) { return reinterpret_cast<CuDevicePtr>(of_device); }

CuCopyEnd EndAt(const void* address, bool on_host, size_t pitch) {
  if (on_host) return {.type = CuMemoryType::kHost, .on_host = address, .pitch = pitch};
  return {.type = CuMemoryType::kDevice, .on_device = Address(address), .pitch = pitch};
}

Result<std::unique_ptr<Device>> MakeDevice(std::unique_ptr<Gpu> gpu);

class CudaDevice : public Device {
 public:
  CudaDevice(std::unique_ptr<Gpu> gpu, std::unique_ptr<CudaTimer> timer)
      : gpu_(std::move(gpu)), timer_(std::move(timer)) {}

  Result<std::unique_ptr<Device>> OpenQueue() override {
    TUNEC_ASSIGN(std::unique_ptr<Gpu> gpu, gpu_->OpenForThread());
    return MakeDevice(std::move(gpu));
  }

  std::optional<int> Number() const override { return gpu_->facts().number; }

  Status UseStream(void* stream) override {
    gpu_->UseStream(static_cast<CuStream>(stream));
    return {};
  }

  Status Mark() override { return gpu_->Mark(); }
  void FollowMark() override { gpu_->FollowMark(); }
  Result<bool> HasReachedMark() override { return gpu_->HasReachedMark(); }
  Status WaitForMark() override { return gpu_->WaitForMark(); }

  Status CheckRoom(std::span<const MemoryNeed> needs) override {
    TUNEC_RETURN_IF_ERROR(gpu_->CheckUsable());
    const Gpu::Current current(*gpu_);
    size_t free = 0;
    size_t total = 0;
    TUNEC_RETURN_IF_ERROR(
        gpu_->Check(driver().MemGetInfo(&free, &total), "report its free memory"));
    int64_t sum = 0;
    std::string list;
    for (const MemoryNeed& need : needs) {
      // The sum may overflow, because the numbers of a bundle may be arbitrary.
      if (__builtin_add_overflow(sum, need.bytes, &sum)) sum = std::numeric_limits<int64_t>::max();
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", need.what, need.bytes);
    }
    if (static_cast<size_t>(sum) <= free) return {};
    return Fail(ErrorCode::kResourceLimit, "{} has {} of {} bytes free, {} are needed: {}",
                Name(gpu_->facts()), free, total, sum, list);
  }

  Result<DeviceMemory> Allocate(size_t bytes) override {
    TUNEC_RETURN_IF_ERROR(gpu_->CheckUsable());
    const Gpu::Current current(*gpu_);
    CuDevicePtr address = 0;
    const CuResult result = driver().MemAlloc(&address, std::max<size_t>(bytes, 1));
    if (result == CuResult::kOutOfMemory) return NoMemory(bytes);
    TUNEC_RETURN_IF_ERROR(gpu_->Check(result, fmt::format("allocate {} bytes", bytes)));
    const auto free = [gpu = gpu_.get()](void* memory) {
      if (gpu->Hangs()) return;
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

  void StartCopyIn(void* to, const void* from, size_t bytes) override {
    StartCopying(
        bytes, [&] { return driver().MemcpyHtoDAsync(Address(to), from, bytes, gpu_->stream()); });
  }
  void StartCopyOut(void* to, const void* from, size_t bytes) override {
    gpu_->WaitForStream();  // the copy may block without a timeout, so the wait is here
    StartCopying(
        bytes, [&] { return driver().MemcpyDtoHAsync(to, Address(from), bytes, gpu_->stream()); });
  }
  void StartCopy(void* to, const void* from, size_t bytes) override {
    StartCopying(bytes, [&] {
      return driver().MemcpyDtoDAsync(Address(to), Address(from), bytes, gpu_->stream());
    });
  }

  void StartCopyRows(CopyWay way, void* to, const void* from, const CopiedRows& rows) override {
    constexpr size_t kMostPitch = std::numeric_limits<int32_t>::max();  // limit of every GPU
    if (rows.source_pitch > kMostPitch || rows.target_pitch > kMostPitch)
      return Device::StartCopyRows(way, to, from, rows);
    const CuCopyRows copy{.from = EndAt(from, way == CopyWay::kIn, rows.source_pitch),
                          .to = EndAt(to, way == CopyWay::kOut, rows.target_pitch),
                          .row_bytes = rows.row_bytes,
                          .rows = rows.rows};
    if (way == CopyWay::kOut) gpu_->WaitForStream();
    StartCopying(rows.row_bytes * rows.rows,
                 [&] { return driver().Memcpy2DAsync(&copy, gpu_->stream()); });
  }

  Status Fill(void* to, std::byte value, size_t bytes) override {
    TUNEC_RETURN_IF_ERROR(gpu_->CheckUsable());
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
    TUNEC_RETURN_IF_ERROR(gpu_->CheckUsable());
    return MakeKernel({std::move(code), std::move(arguments), workspace});
  }

  Result<std::unique_ptr<DeviceSequence>> Record(std::vector<DeviceCall> calls) override {
    TUNEC_RETURN_IF_ERROR(gpu_->CheckUsable());
    std::vector<std::unique_ptr<CudaKernel>> kernels;
    for (DeviceCall& call : calls) kernels.push_back(MakeKernel(std::move(call)));
    return RecordCudaSequence(*gpu_, *timer_, std::move(kernels));
  }

  Status Synchronize() override { return gpu_->Synchronize(); }

 private:
  const CudaDriver& driver() const { return gpu_->driver(); }

  std::unique_ptr<CudaKernel> MakeKernel(DeviceCall call) {
    auto own = std::dynamic_pointer_cast<const CudaCode>(std::move(call.code));
    TUNEC_CHECK(own != nullptr && own->gpu().SharesContext(*gpu_), "code of another device");
    TUNEC_CHECK((call.workspace != nullptr) == (own->workspace_bytes() > 0),
                "a kernel is bound with the wrong workspace");
    return std::make_unique<CudaKernel>(*gpu_, *timer_, std::move(own), std::move(call.arguments),
                                        call.workspace);
  }

  template <class Begin>
  void StartCopying(size_t bytes, const Begin& begin) {
    if (bytes == 0 || gpu_->Failed()) return;
    const Gpu::Current current(*gpu_);
    gpu_->RecordRequest(begin(), "copy what a run reads or writes");
  }

  // Waits for the stream, starts a copy in the stream if nothing failed, and waits for the copy.
  template <class Begin>
  Status Copy(size_t bytes, const Begin& begin) {
    TUNEC_RETURN_IF_ERROR(gpu_->CheckUsable());
    if (bytes > 0) gpu_->WaitForStream();
    if (bytes > 0 && !gpu_->Failed()) {
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

Result<std::unique_ptr<Device>> MakeDevice(std::unique_ptr<Gpu> gpu) {
  TUNEC_ASSIGN(std::unique_ptr<CudaTimer> timer, CudaTimer::Make(*gpu));
  return std::make_unique<CudaDevice>(std::move(gpu), std::move(timer));
}

}  // namespace

Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaDriver& driver, int number,
                                               double hang_seconds) {
  TUNEC_ASSIGN(std::unique_ptr<Gpu> gpu, Gpu::Open(driver, number, hang_seconds));
  return MakeDevice(std::move(gpu));
}

}  // namespace tunec
