// The kinds of sketches. Each function adds the sketches of its kind that fit.
#pragma once

#include <vector>

#include "schedule/apply.h"
#include "schedule/sketch.h"

namespace tunec {

/// Adds sketches of reductions in register tiles, with elementwise followers: products of matrices,
/// convolutions, pooling (tile.cc).
void AddTileSketches(const NamedCompute& lowering, const SketchQuestion& question,
                     std::vector<Sketch>& sketches);

/// Adds sketches of Winograd convolutions: products between transforms of both operands and of the
/// sums (transformed.cc). Receives all lowerings. Skips transforms that are estimated to be clearly
/// slower than the first lowering. Clearly faster ones may come before all earlier sketches.
void AddTransformedSketches(const SketchQuestion& question, std::vector<Sketch>& sketches);

/// Adds sketches of flash attention: two products with work on rows between them (stream.cc).
/// Receives all lowerings, because they differ in sizes that only estimates for the target can
/// rank.
void AddStreamSketches(const SketchQuestion& question, std::vector<Sketch>& sketches);

/// Adds a sketch of a row-streaming reduction (sweep.cc). The operand is read once, in long rows
/// along the results; a few rows at a time are added to a block of results in the cache. The
/// sketch is inserted at position `first` if the data exceeds the L2 cache, else last.
void AddSweepSketches(const NamedCompute& lowering, const SketchQuestion& question, size_t first,
                      std::vector<Sketch>& sketches);

/// Adds sketches of statements that share rows and reduce along them: softmax, normalisations,
/// reductions of the contiguous dimension (rows.cc).
void AddRowSketches(const NamedCompute& lowering, const SketchQuestion& question,
                    std::vector<Sketch>& sketches);

/// Adds sketches of strided reductions, along a middle or the first axis (`abreast.cc`). Elements
/// of consecutive rows are contiguous. The added sketches come first if there are enough rows for
/// all threads, else last.
void AddAbreastSketches(const NamedCompute& lowering, const Target& target,
                        std::vector<Sketch>& sketches);

/// Adds sketches of one or several reductions, each of all elements to one value, with scalar
/// followers (reduce_all.cc).
void AddReduceAllSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches);

/// Adds sketches of reductions over rows with one result per column, if the elements of a row are
/// contiguous, and of the elementwise work around them. Examples are statistics and normalisations
/// of channels in the last dimension (columns.cc).
void AddColumnSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches);

/// Adds sketches of elementwise statements: chains of elementwise operators and data movement
/// (pointwise.cc).
void AddPointwiseSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches);

/// Adds sketches for a sum of products with too few results to occupy all threads (split_sum.cc).
/// The sum is split into parts, and a composed sketch schedules the resulting Compute. The added
/// sketches come first. Applies sketches to the parts.
void AddSplitSumSketches(const NamedCompute& lowering, const SketchQuestion& question,
                         std::vector<Sketch>& sketches);

/// Adds all sketches above that fit one lowering, the most promising first, except for flash
/// attention, transforms and split sums. Sketches of columns and of strided reductions are added
/// only if `sketches` would else be empty. Does not use the question's other lowerings.
void AddPatternSketches(const NamedCompute& lowering, const SketchQuestion& question,
                        std::vector<Sketch>& sketches);

/// Adds sketches for a Compute of several loop nests. Each nest has its own kind of sketch, if one
/// fits (composed.cc). Applies sketches to each nest.
void AddComposedSketches(const NamedCompute& lowering, const SketchQuestion& question,
                         std::vector<Sketch>& sketches);

/// Adds sketches that schedule some statements by patterns and leave the other statements as
/// written (composed.cc). These sketches serve lowerings for which isl's scheduler finds nothing.
void AddPartialSketches(const NamedCompute& lowering, const SketchQuestion& question,
                        std::vector<Sketch>& sketches);

/// Adds sketches for a device, with rows as in AddRowSketches. The threads of a block process one
/// or several rows at once (cuda_rows.cc). Applies the sketches that it adds.
void AddCudaRowSketches(const NamedCompute& lowering, const Accelerator& device,
                        const RoundingFreedom& rounding, std::vector<Sketch>& sketches);

/// Adds sketches for a device, where each phase has a kind that fits (cuda_phases.cc). The kinds
/// are tiles by matrix instructions or by threads (one sketch for each if several fit), else long
/// sums, elementwise work or blocks. Streamed products are one phase. Among the other sketches, the
/// least estimated time comes first, unless the first sketch has no estimate. Skips lowerings
/// where only blocks fit. Receives all lowerings, because tiles can share different data in each
/// lowering. Requires: no lowering has an empty loop. Applies each phase.
void AddCudaSketches(const std::vector<NamedCompute>& lowerings, const Accelerator& device,
                     const RoundingFreedom& rounding, std::vector<Sketch>& sketches);

/// Adds sketches for a device: each statement that fits runs in blocks of threads (blocks.cc).
/// Applies the steps of each statement.
void AddBlockSketches(const NamedCompute& lowering, const RoundingFreedom& rounding,
                      std::vector<Sketch>& sketches);

/// Adds sketches that follow isl's scheduler, if steps that help are found (affine.cc). These
/// sketches serve lowerings that no other kind fits. Cost: computes all dependences.
void AddAffineSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches);

}  // namespace tunec
