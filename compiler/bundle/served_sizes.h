// The sizes that a bundle's code must serve, and the sizes among these that need exact code.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/sized/sized_form.h"
#include "runtime/sized/sized_variant.h"
#include "support/error.h"

namespace tunec {

/// The maximum number of sizes that get exact code because padded code does not serve them. Without
/// any padding, it applies to each combination of listed sizes separately.
inline constexpr size_t kMostForThemselves = 24;

/// Returns the requested sizes with this key for which a condition of the form or of the code is
/// false. Above 2^16 combinations of sizes, only those along each dimension are examined.
std::vector<Sizes> FindUnserved(const SizedForm& form, const SizedCode& code);

/// Returns all requested sizes that would run on code of this key: each size of a range, and the
/// key's size along the other dimensions. Without output extents, a range begins at its least
/// requested size. Fails with kUnsupported for more than `most` sizes. The message contains `why`,
/// the reason why code of the key cannot serve all of these sizes.
Result<std::vector<Sizes>> SizesOfRanges(const SizedForm& form, const SizedKey& key, size_t most,
                                         std::string_view why);

/// Returns the error for a range whose sizes would need exact code, with the reason `why`.
Error RangeError(const SizedForm& form, std::string_view why);

}  // namespace tunec
