#include "runtime/device_constants.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

namespace tunec {
namespace {

// Each constant begins at a multiple of this number of bytes in its allocation, also if the
// constant requires less. So each constant begins a new cache line.
constexpr int64_t kConstantAlignment = 256;

int64_t RoundUp(int64_t bytes) {
  return (bytes + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
}

Result<std::shared_ptr<void>> AllocateOn(const PooledDevice& device, int64_t bytes) {
  struct Allocation {
    PooledDevice device;
    DeviceMemory memory;  // destroyed first
  };
  TUNEC_ASSIGN(DeviceMemory memory, device.device->Allocate(static_cast<size_t>(bytes)));
  auto allocation = std::make_shared<Allocation>(device, std::move(memory));
  void* const address = allocation->memory.address;
  return std::shared_ptr<void>(std::move(allocation), address);
}

/// A helper of CopyConstants. Find assigns addresses to the constants that the device already has.
/// CopyLacking copies the other constants that have data.
class ConstantCopier {
 public:
  ConstantCopier(const PooledDevice& device, std::vector<Constant>& constants,
                 const ConstantSharing& sharing)
      : device_(device), constants_(constants), sharing_(sharing) {
    result_.addresses.resize(constants.size());
  }

  void Find() {
    for (size_t i = 0; i < constants_.size(); ++i) {
      if (constants_[i].data == nullptr) continue;
      result_.bytes += RoundUp(constants_[i].bytes);
      if (std::shared_ptr<const void> found = FindOne(i)) {
        result_.addresses[i] = static_cast<std::byte*>(const_cast<void*>(found.get()));
        result_.owners.push_back(std::move(found));
        constants_[i].data = nullptr;
      } else {
        lacking_.push_back(i);
        lacking_bytes_ += RoundUp(constants_[i].bytes);
      }
    }
  }

  int64_t lacking_bytes() const { return lacking_bytes_; }

  Result<DeviceConstants> CopyLacking() {
    TUNEC_ASSIGN(const std::shared_ptr<void> memory, AllocateOn(device_, lacking_bytes_));
    auto* there = static_cast<std::byte*>(memory.get());
    for (const size_t i : lacking_) {
      Constant& constant = constants_[i];
      const auto bytes = static_cast<size_t>(constant.bytes);
      TUNEC_RETURN_IF_ERROR(device_.device->CopyIn(there, constant.data.get(), bytes));
      constant.data = nullptr;
      result_.addresses[i] = there;
      if (const std::string key = KeyOf(i); !key.empty())
        sharing_.table->Add(key, std::shared_ptr<const void>(memory, there), constant.bytes);
      there += RoundUp(constant.bytes);
    }
    result_.owners.push_back(memory);
    return std::move(result_);
  }

 private:
  std::string KeyOf(size_t i) const {
    if (sharing_.table == nullptr || sharing_.keys[i].empty()) return {};
    return fmt::format("device {} {}", device_.device->Number().value_or(-1), sharing_.keys[i]);
  }
  std::shared_ptr<const void> FindOne(size_t i) const {
    const std::string key = KeyOf(i);
    return key.empty() ? nullptr : sharing_.table->Find(key);
  }

  const PooledDevice& device_;
  std::vector<Constant>& constants_;
  const ConstantSharing& sharing_;
  DeviceConstants result_;
  std::vector<size_t> lacking_;
  int64_t lacking_bytes_ = 0;
};

}  // namespace

int64_t WorkspaceBytes(std::span<const Step> steps) {
  int64_t bytes = 0;
  for (const Step& step : steps) bytes = std::max(bytes, step.kernel.workspace_bytes);
  return bytes;
}

Result<DeviceConstants> CopyConstants(const PooledDevice& device, std::vector<Constant>& constants,
                                      const ConstantSharing& sharing, std::span<const Step> steps,
                                      int64_t arena_bytes) {
  // Only one executable at a time searches the shared table and copies missing constants. So two
  // executables do not copy the same shared constant.
  std::unique_lock<std::mutex> making;
  if (sharing.table != nullptr) making = std::unique_lock(sharing.table->making());
  ConstantCopier copier(device, constants, sharing);
  copier.Find();
  const std::array needs = {MemoryNeed{"weights", copier.lacking_bytes()},
                            MemoryNeed{"arena", arena_bytes},
                            MemoryNeed{"workspace", WorkspaceBytes(steps)}};
  TUNEC_RETURN_IF_ERROR(device.device->CheckRoom(needs));
  return copier.CopyLacking();
}

}  // namespace tunec
