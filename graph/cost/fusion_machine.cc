#include "graph/cost/fusion_machine.h"

#include "ir/emulated_amx.h"

namespace tunec {

FusionMachine FusionMachineOf(const Target& target) {
  if (target.device)
    return {.cores = static_cast<double>(target.device->processors), .chains = false};
  // Matrix instructions need whole tiles of rows. Chained contractions do not have whole tiles.
  const bool has_matrices = target.Has("amx-bf16") || target.Has(kAmxEmulated);
  return {.chains = !has_matrices, .vector_lanes = target.host.Lanes(sizeof(float))};
}

}  // namespace tunec
