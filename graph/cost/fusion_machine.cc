#include "graph/cost/fusion_machine.h"

#include "ir/emulated_amx.h"

namespace tunec {

FusionMachine FusionMachineOf(const Target& target) {
  if (target.device)
    return {.cores = static_cast<double>(target.device->processors), .chains = false};
  // Matrix instructions need rows padded to whole tiles. Chained contractions have no such padding.
  const bool has_matrices = target.Has("amx-bf16") || target.Has(kAmxEmulated);
  return {.chains = !has_matrices, .vector_lanes = target.host.Lanes(sizeof(float))};
}

}  // namespace tunec
