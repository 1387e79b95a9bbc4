// The sectors of memory that a warp touches with one access.
#pragma once

#include <vector>

#include "ir/loop_nest.h"
#include "ir/nest/sample_instances.h"

namespace tunec {

/// Sectors for each element that a thread accesses: 1/8 where threads that are neighbours access
/// float32 neighbours, 1 where each touches a sector of its own. Counted for the first warp of the
/// block that `sampled` is of, over all lanes of the vector loops around it.
double SectorsPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                         const SampledStore& sampled, const Launch& launch);

/// Accesses of one thread for each element: 1/4 where the lanes of a vector loop have float32
/// neighbours, 16 bytes of which are one access, 1 where each element is apart.
double AccessesPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                          const SampledStore& sampled);

/// How often a thread repeats the access before a loop changes its index: the code does it once.
/// Loops that are unrolled or vectors are seen through, whatever their order; of others only the
/// innermost ones.
double RepeatsOf(const std::vector<IndexExpr>& index, const SampledStore& sampled);

}  // namespace tunec
