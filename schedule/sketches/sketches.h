// The kinds of sketches. Each function adds the sketches of its kind that fit a Compute, best
// first.
#pragma once

#include <vector>

#include "schedule/apply.h"
#include "schedule/sketch.h"

namespace tunec {

/// Adds sketches of reductions whose outputs are computed in register tiles, with elementwise
/// followers: products of matrices, convolutions, pooling (tile.cc).
void AddTileSketches(const NamedCompute& lowering, const SketchQuestion& question,
                     std::vector<Sketch>& sketches);

/// Adds sketches of products between transforms of both operands and of the sums: Winograd
/// convolutions (transformed.cc). Receives all lowerings. A comparison with the first lowering
/// decides whether transforms pay, and ranks the sketch among earlier ones.
void AddTransformedSketches(const SketchQuestion& question, std::vector<Sketch>& sketches);

/// Adds sketches of flash attention: two products with work on rows between them (stream.cc).
/// Receives all lowerings, because they differ in sizes that only the target can rank.
void AddStreamSketches(const SketchQuestion& question, std::vector<Sketch>& sketches);

/// Adds sketches of row-streaming reductions (sweep.cc). Their operand is read once, in long rows
/// along the results, which are added row by row to a block of results in the cache. They are
/// inserted at position `first` if no cache can hold the operand, else last.
void AddSweepSketches(const NamedCompute& lowering, const SketchQuestion& question, size_t first,
                      std::vector<Sketch>& sketches);

/// Adds sketches of statements that share rows and reduce along them: softmax, normalisations,
/// reductions of the contiguous dimension (rows.cc).
void AddRowSketches(const NamedCompute& lowering, const SketchQuestion& question,
                    std::vector<Sketch>& sketches);

/// Adds sketches of strided reductions, where neighbouring rows are contiguous: over a middle or
/// the first axis (`abreast.cc`). They come first if there are blocks of rows for all threads.
void AddAbreastSketches(const NamedCompute& lowering, const Target& target,
                        std::vector<Sketch>& sketches);

/// Adds sketches of one reduction of everything to one value, with scalar followers
/// (reduce_all.cc).
void AddReduceAllSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches);

/// Adds sketches of sums over rows for contiguous columns, with pointwise work around them:
/// statistics and normalisations of channels that come last (columns.cc).
void AddColumnSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches);

/// Adds sketches of elementwise statements: chains of elementwise operators and data movement
/// (pointwise.cc).
void AddPointwiseSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches);

/// Adds sketches that split a product's sum with too few results for all threads into shares, which
/// another sketch sums (split_sum.cc). They come first. Applies its sketches to the parts.
void AddSplitSumSketches(const NamedCompute& lowering, const SketchQuestion& question,
                         std::vector<Sketch>& sketches);

/// Adds all sketches above that fit one lowering, the most promising first, except for flash
/// attention. They do not use the question's other lowerings.
void AddPatternSketches(const NamedCompute& lowering, const SketchQuestion& question,
                        std::vector<Sketch>& sketches);

/// Adds sketches of several loop nests, each with its own kind (composed.cc). Applies the sketches
/// to each nest.
void AddComposedSketches(const NamedCompute& lowering, const SketchQuestion& question,
                         std::vector<Sketch>& sketches);

/// Adds sketches that schedule single statements by patterns and leave the others as written
/// (composed.cc). They serve lowerings for which isl's scheduler finds nothing.
void AddPartialSketches(const NamedCompute& lowering, const SketchQuestion& question,
                        std::vector<Sketch>& sketches);

/// Adds sketches for a device: rows, as AddRowSketches, each processed by the threads of a block
/// (cuda_rows.cc). Applies the sketches that it adds.
void AddCudaRowSketches(const NamedCompute& lowering, const Accelerator& device,
                        const RoundingFreedom& rounding, std::vector<Sketch>& sketches);

/// Adds sketches for a device, where each phase has a kind that fits (cuda_phases.cc). The kinds
/// are tiles of sums by matrix instructions or by threads (one sketch for each if both fit),
/// elementwise work, else blocks. The sketch with the least estimated time comes first. Adds
/// nothing if only blocks fit. Receives all lowerings, because tiles can share different data in
/// each; none may have an empty loop. Applies the sketches to each.
void AddCudaSketches(const std::vector<NamedCompute>& lowerings, const Accelerator& device,
                     const RoundingFreedom& rounding, std::vector<Sketch>& sketches);

/// Adds sketches for a device: each statement as blocks of threads that compute one element each
/// (blocks.cc). Applies the sketches to each.
void AddBlockSketches(const NamedCompute& lowering, const RoundingFreedom& rounding,
                      std::vector<Sketch>& sketches);

/// Adds sketches by isl's scheduler for anything with loops, if no other sketch fits (affine.cc).
/// Cost: computes all dependences.
void AddAffineSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches);

}  // namespace tunec
