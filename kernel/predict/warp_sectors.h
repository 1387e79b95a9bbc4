// The sectors of memory that one access of a warp touches.
#pragma once

#include <vector>

#include "ir/loop_nest.h"
#include "ir/nest/sample_instances.h"

namespace tunec {

/// Returns the sectors per element that a thread accesses. The result is 1/8 if neighbouring
/// threads access neighbouring float32 elements, and 1 if each thread touches a separate sector.
/// Sectors are counted for the first warp of the block of `sampled`, over all lanes of the vector
/// loops around it.
double SectorsPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                         const SampledStore& sampled, const Launch& launch);

/// Returns the accesses of one thread per element. The result is 1/4 if the lanes of a vector loop
/// have neighbouring float32 elements, because one access has 16 bytes. It is 1 if elements are
/// separate.
double AccessesPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                          const SampledStore& sampled);

/// Returns how often a thread repeats the access before a loop changes its index: the code executes
/// it once. Unrolled and vector loops are ignored, whatever their order; of other loops only the
/// innermost ones count.
double RepeatsOf(const std::vector<IndexExpr>& index, const SampledStore& sampled);

}  // namespace tunec
