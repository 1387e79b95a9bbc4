// Choice of the variants of a bundle that this machine can run.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bundle/variant_head.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec::bundle {

/// Value of DeviceChoice::name that allows only variants for the host.
inline constexpr std::string_view kHostOnly = "cpu";

/// The processor and the GPUs of this machine. The driver is loaded at most once, and only if a
/// variant for a GPU is checked or opened. Only one thread at a time may use an object.
class LocalMachine {
 public:
  /// Sets the choice. `choice.name` is the number or the UUID of a GPU, kHostOnly, or empty for no
  /// restriction.
  explicit LocalMachine(DeviceChoice choice = {});
  ~LocalMachine();
  LocalMachine(const LocalMachine&) = delete;
  LocalMachine& operator=(const LocalMachine&) = delete;

  /// Opens the device that runs the steps of this variant. Returns null if the host runs them.
  /// Fails with kDevice and the reason if this machine, or the choice, does not allow the variant.
  /// Other errors: those of OpenCudaDevice.
  Result<std::shared_ptr<Device>> Open(const VariantHead& head);
  /// Checks the same as Open, but does not open a GPU. So errors of OpenCudaDevice do not occur.
  Status Check(const VariantHead& head);

 private:
  struct Gpus;
  Result<std::optional<int>> NumberFor(const VariantHead& head);
  Result<const Gpus*> FindGpus();

  const DeviceChoice choice_;
  std::unique_ptr<const Result<Gpus>> gpus_;  // null: not searched yet
};

/// Returns the name of a variant: "cpu haswell", "cuda sm_90a".
std::string Name(const VariantHead& head);

/// Returns the numbers of the variants in the order in which they are tried: first variants for a
/// device, then variants for the host, each in the order of the file.
std::vector<size_t> OrderOfChoice(const std::vector<VariantHead>& heads);

}  // namespace tunec::bundle
