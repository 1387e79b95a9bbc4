#include "graph/cost/fusion_machine.h"

namespace tunec {

FusionMachine FusionMachineOf(const Target& target) {
  return {.vector_lanes = target.host.Lanes(sizeof(float))};
}

}  // namespace tunec
