// Comparison of a bundle's padded code with the graphs of the sizes that the code serves. The
// bundle's compilation does this, because a bundle runs without a graph and without a compiler.
#pragma once

#include <vector>

#include "compiler/sized/learn_form.h"
#include "compiler/sized/sized_graph.h"
#include "compiler/sized/sized_source.h"
#include "support/error.h"

namespace tunec {

/// The maximum number of sizes that get exact code because padded code is wrong for them or cannot
/// be made. Without any padding, it applies to each combination of listed sizes separately.
inline constexpr size_t kMostForThemselves = 24;

/// Returns the sizes to compare from `least` to `most`, each once: all if there are at most 256
/// combinations. Otherwise each dimension takes all its sizes, once with the least and once with
/// the greatest sizes of the other dimensions. For several dimensions, 64 random combinations are
/// added. Fails with kUnsupported if a dimension has more than 8192 sizes.
Result<std::vector<Sizes>> SizesToCompare(const Sizes& least, const Sizes& most);

/// Compares the form with the graphs of SizesToCompare. If the form holds, limits runs of separable
/// dimensions to the compared range. Otherwise, removes splitting of runs from the form. If the
/// result does not hold either, padding is removed, too, and `learnt.rejection` has the reason.
/// Requires: NeedsChecks of the form.
Status DropFailingForms(const SizedSource& source, LearntForm& learnt);

/// Returns the least requested sizes that the code serves: `code.least`, but along a padded
/// dimension with a range at least the smallest size in the bucket (RoundUpSize) of the first
/// listed size.
Sizes LeastRequestedSizes(const SizedForm& form, const SizedCode& code);

/// Returns those of the compared sizes (SizesToCompare) for which padded code would be wrong. The
/// list is empty if the code needs no checks. Fails with kUnsupported if more than `most` sizes
/// differ, if a size has no graph, or if SizesToCompare fails.
Result<std::vector<Sizes>> FindDifferingSizes(const SizedSource& source, const SizedGraph& padded,
                                              size_t most);

/// Returns all requested sizes that would run on code of this key: each size of a range, and the
/// key's size along the other dimensions. Without output extents, a range begins at its least
/// requested size. Fails with kUnsupported for more than `most` sizes. The message contains `why`,
/// the reason why code of the key cannot serve all of these sizes.
Result<std::vector<Sizes>> SizesOfRanges(const SizedSource& source, const SizedForm& form,
                                         const SizedKey& key, size_t most, std::string_view why);

}  // namespace tunec
