// Which variants of a bundle this machine can run.
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

/// What DeviceChoice::name may say beside a GPU: variants for processors alone.
inline constexpr std::string_view kHostOnly = "cpu";

/// The processor and the GPUs that there are. A driver is loaded at most once, and only when a
/// variant for a GPU is asked about. Used by one thread at a time.
class MachineHere {
 public:
  /// `choice.name` is the number or the UUID of a GPU, kHostOnly, or empty: anything.
  explicit MachineHere(DeviceChoice choice = {});
  ~MachineHere();
  MachineHere(const MachineHere&) = delete;
  MachineHere& operator=(const MachineHere&) = delete;

  /// What runs the steps of such a variant; null: the host. kDevice names what is lacking: features
  /// of the processor, a driver, a GPU, the one that was chosen.
  Result<std::shared_ptr<Device>> Open(const VariantHead& head);
  /// The same errors but for those of opening a GPU, which is left alone.
  Status Check(const VariantHead& head);

 private:
  struct Gpus;
  Result<std::optional<int>> NumberFor(const VariantHead& head);
  Result<const Gpus*> FindGpus();

  const DeviceChoice choice_;
  std::unique_ptr<const Result<Gpus>> gpus_;  // null: not looked for yet
};

/// "cpu haswell", "cuda sm_90a"
std::string Name(const VariantHead& head);

/// The numbers of variants in the order in which they are tried: those for a device before those
/// for the host, of either as they stand in the file.
std::vector<size_t> OrderOfChoice(const std::vector<VariantHead>& heads);

}  // namespace tunec::bundle
