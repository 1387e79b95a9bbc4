// Comparison of a bundle's padded code with the graphs of the sizes that the code serves. A bundle
// runs without a graph and without a compiler.
#pragma once

#include <vector>

#include "compiler/sized/learn_form.h"
#include "compiler/sized/sized_graph.h"
#include "compiler/sized/sized_source.h"
#include "support/error.h"

namespace tunec {

/// The most sizes of which one bundle has exact code because padded code would be wrong for them.
inline constexpr size_t kMostForThemselves = 24;

/// Returns all sizes of a box where these are few. Of a larger one: of each dimension all sizes,
/// with the least and the greatest of the others, and some further ones.
/// kUnsupported: one dimension has more than are compared.
Result<std::vector<Sizes>> SizesToCompare(const Sizes& least, const Sizes& most);

/// Compares the form with the graphs of the sizes that the bundle serves, and limits runs of
/// separable dimensions to the compared sizes. Where the form does not hold, `refusal` says why,
/// and nothing is padded or cut. Requires: NeedsChecks of the form.
Status KeepWhatHolds(const SizedSource& source, LearntForm& learnt);

/// Returns the least sizes of the code that the list or range asks for. Smaller sizes are served
/// too where the padded code computes all of them.
Sizes LeastAskedFor(const SizedForm& form, const SizedCode& code);

/// Returns the sizes for which padded code would be wrong. kUnsupported names the first where there
/// are more than `most`.
Result<std::vector<Sizes>> SizesThatDiffer(const SizedSource& source, const SizedGraph& padded,
                                           size_t most);

/// Returns all requested sizes that would run on code of this key: each size of a range, and the
/// key's size along other dimensions. kUnsupported, with `why`, where the count exceeds `most`.
Result<std::vector<Sizes>> SizesOfRanges(const SizedSource& source, const SizedForm& form,
                                         const SizedKey& key, size_t most, std::string_view why);

}  // namespace tunec
