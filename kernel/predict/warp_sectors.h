// Functions that count the accesses of a warp's threads and the sectors that the accesses touch.
#pragma once

#include <vector>

#include "ir/loop_nest.h"
#include "ir/nest/sample_instances.h"

namespace tunec {

/// Returns the number of sectors that a warp's access touches for each element that a thread
/// accesses. The result is 1/8 if consecutive threads access consecutive float32 elements, and 1 if
/// each thread touches a separate sector. Sectors are counted for the first warp of the block of
/// `sampled`, over all lanes of the vector loops around it. An index with loaded values gives 1.
double SectorsPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                         const SampledStore& sampled, const Launch& launch);

/// Returns the number of accesses that one thread makes for each element. The result is 1/4 if at
/// least four lanes of a vector loop have consecutive float32 elements, because one access has 16
/// bytes. It is 1 if elements are separate, or if the index has loaded values.
double AccessesPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                          const SampledStore& sampled);

/// Returns the number of iterations for which the code executes the access once, because loops that
/// the index does not use surround it. All unrolled and vector loops inside the first other loop
/// count, whatever their order. Of the loops outside of these, only those inside the first loop
/// that changes the index count. Block loops are skipped, and loops over tasks end the count.
double RepeatsOf(const std::vector<IndexExpr>& index, const SampledStore& sampled);

}  // namespace tunec
