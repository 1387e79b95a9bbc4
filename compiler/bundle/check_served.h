// Comparison of a bundle's padded code with the graphs of the sizes that the code serves. The
// comparison happens at build time, because a bundle runs without a graph and without a compiler.
#pragma once

#include <vector>

#include "compiler/sized/learn_form.h"
#include "compiler/sized/sized_graph.h"
#include "compiler/sized/sized_source.h"
#include "support/error.h"

namespace tunec {

/// Limit of the sizes for which one bundle has exact code because padded code would be wrong.
inline constexpr size_t kMostForThemselves = 24;

/// Returns the sizes to compare between `least` and `most`. If there are few combinations, all are
/// returned. Otherwise each dimension takes all its sizes, with the least and the greatest of the
/// others, and some random combinations are added. kUnsupported: one dimension has more sizes than
/// can be compared.
Result<std::vector<Sizes>> SizesToCompare(const Sizes& least, const Sizes& most);

/// Compares the form with the graphs of the sizes that the bundle serves. Limits runs of separable
/// dimensions to the compared sizes. If the form does not hold, `rejection` says why, and nothing
/// is padded or split. Requires: NeedsChecks of the form.
Status KeepWhatHolds(const SizedSource& source, LearntForm& learnt);

/// Returns the least sizes that the list or range requests from the code. Smaller sizes are also
/// served if the padded code computes all of them.
Sizes LeastAskedFor(const SizedForm& form, const SizedCode& code);

/// Returns the sizes for which padded code would be wrong. kUnsupported: there are more than
/// `most`; the message names the first.
Result<std::vector<Sizes>> SizesThatDiffer(const SizedSource& source, const SizedGraph& padded,
                                           size_t most);

/// Returns all requested sizes that would run on code of this key: each size of a range, and the
/// key's size along the other dimensions. kUnsupported, with `why`: there are more than `most`.
Result<std::vector<Sizes>> SizesOfRanges(const SizedSource& source, const SizedForm& form,
                                         const SizedKey& key, size_t most, std::string_view why);

}  // namespace tunec
