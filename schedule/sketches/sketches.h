// The kinds of sketch; each adds those of its kind that fit a Compute, best first.
#pragma once

#include <vector>

#include "schedule/apply.h"
#include "schedule/sketch.h"

namespace tunec {

/// Reductions whose outputs are computed in register tiles, with what follows them element
/// by element: products of matrices, convolutions, pooling (tile.cc).
void AddTileSketches(const NamedCompute& lowering, const SketchQuestion& question,
                     std::vector<Sketch>& sketches);

/// Products between transforms of both operands and of the sums: convolutions by Winograd's tiles
/// (transformed.cc). Takes all lowerings: against the first one it is weighed whether the
/// transforms pay, and where its sketch stands among those that were found before.
void AddTransformedSketches(const SketchQuestion& question, std::vector<Sketch>& sketches);

/// Two products with work on rows between them, streamed: attention (stream.cc). Takes
/// all lowerings, since they differ in sizes that only the target tells apart.
void AddStreamSketches(const SketchQuestion& question, std::vector<Sketch>& sketches);

/// Sums whose operand is read once and lies in long rows along the results, added row by row to a
/// block of them in the cache (sweep.cc). Comes at place `first` where no cache holds the operand,
/// else last.
void AddSweepSketches(const NamedCompute& lowering, const SketchQuestion& question, size_t first,
                      std::vector<Sketch>& sketches);

/// Statements that share rows and reduce along them: softmax, normalisations, reductions of
/// the contiguous dimension (rows.cc).
void AddRowSketches(const NamedCompute& lowering, const SketchQuestion& question,
                    std::vector<Sketch>& sketches);

/// The same where neighbouring rows lie side by side: over a middle or the first axis (abreast.cc).
/// Comes first of all that were found where there are blocks of rows for all threads.
void AddAbreastSketches(const NamedCompute& lowering, const Target& target,
                        std::vector<Sketch>& sketches);

/// One reduction of everything to one value, with scalars after it (reduce_all.cc).
void AddReduceAllSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches);

/// Sums over rows for columns that lie side by side, with pointwise work around them: statistics
/// and normalisations of channels that come last (columns.cc).
void AddColumnSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches);

/// Statements that compute each element by itself: chains of elementwise operators and data
/// movement (pointwise.cc).
void AddPointwiseSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches);

/// A product's sum of few results, too few for all threads, in shares that are summed by what fits
/// them (split_sum.cc). Comes first; applies what it offers to the parts.
void AddSplitSumSketches(const NamedCompute& lowering, const SketchQuestion& question,
                         std::vector<Sketch>& sketches);

/// All of the above that fit one lowering, the most promising first; streams are left out. The
/// question's other lowerings are none of theirs.
void AddPatternSketches(const NamedCompute& lowering, const SketchQuestion& question,
                        std::vector<Sketch>& sketches);

/// Several loop nests, each by what fits it (composed.cc). Applies what it offers to each.
void AddComposedSketches(const NamedCompute& lowering, const SketchQuestion& question,
                         std::vector<Sketch>& sketches);

/// The patterns of single statements among others that stay as written, where even isl's scheduler
/// finds nothing (composed.cc).
void AddPartialSketches(const NamedCompute& lowering, const SketchQuestion& question,
                        std::vector<Sketch>& sketches);

/// For a device: rows, as AddRowSketches, each by the threads of a block (cuda_rows.cc). Applies
/// what it offers.
void AddCudaRowSketches(const NamedCompute& lowering, const Accelerator& device,
                        const RoundingFreedom& rounding, std::vector<Sketch>& sketches);

/// For a device: each phase by a kind that fits it, tiles of sums by matrix instructions or by
/// threads (a sketch for either where both fit), elements by themselves, else blocks
/// (cuda_phases.cc). What is estimated to be fastest comes first. None where blocks alone fit.
/// Takes all lowerings, none of which has an empty loop, since what a tile can share differs
/// between them. Applies what it offers to each.
void AddCudaSketches(const std::vector<NamedCompute>& lowerings, const Accelerator& device,
                     const RoundingFreedom& rounding, std::vector<Sketch>& sketches);

/// For a device: each statement as blocks of threads that compute an element each (blocks.cc).
/// Applies what it offers to each.
void AddBlockSketches(const NamedCompute& lowering, const RoundingFreedom& rounding,
                      std::vector<Sketch>& sketches);

/// Whatever has loops, as isl's scheduler would run it: for what no other sketch fits
/// (affine.cc). Costs the computation of all dependences.
void AddAffineSketches(const NamedCompute& lowering, const Target& target,
                       std::vector<Sketch>& sketches);

}  // namespace tunec
