#include "graph/cost/fusion_machine.h"

namespace tunec {

FusionMachine FusionMachineOf(const Target& target) {
  if (target.device)
    return {.cores = static_cast<double>(target.device->processors), .chains = false};
  return {.vector_lanes = target.host.Lanes(sizeof(float))};
}

}  // namespace tunec
