// Functions that count the accesses of a warp's threads and the sectors that the accesses touch.
#pragma once

#include <vector>

#include "ir/loop_nest.h"
#include "ir/nest/sample_instances.h"

namespace tunec {

/// Returns the number of sectors that a warp's access touches, divided by the number of elements.
/// The result is 1/8 if consecutive threads access consecutive aligned float32 elements, and 1 if
/// each element is in a separate sector. Sectors are counted for the first warp of the block of
/// `sampled`, over lanes of vector loops that the index uses. An index with loaded values gives 1.
double SectorsPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                         const SampledStore& sampled, const Launch& launch);

/// Returns the number of accesses that one thread makes for each element. The result is 1/4 if the
/// four lanes of a vector loop have consecutive aligned float32 elements, because one access has 16
/// bytes. The result is 1 if each element needs a separate access or the index has loaded values.
double AccessesPerElement(const Tensor& tensor, const std::vector<IndexExpr>& index,
                          const SampledStore& sampled);

/// Returns the number of iterations for which the code executes the access once, as the product of
/// the extents of loops that the index does not use. All such unrolled and vector loops inside the
/// innermost loop of another kind count. Of the loops outside of these, only those inside the
/// innermost loop that the index uses count. Block loops are skipped. A loop over tasks ends the
/// count.
double RepeatsOf(const std::vector<IndexExpr>& index, const SampledStore& sampled);

}  // namespace tunec
