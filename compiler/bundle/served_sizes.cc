#include "compiler/bundle/served_sizes.h"

#include <algorithm>
#include <string>

namespace tunec {
namespace {

/// Returns the least requested size: 1 for a list, and for a range the least size in the bucket of
/// the first listed size (RoundUpSize).
int64_t LeastRequested(const ListedSizes& listed) {
  return listed.exact ? 1 : LeastOfBucket(listed.sizes.front(), {});
}

int64_t CountOf(const Sizes& least, const Sizes& most) {
  int64_t count = 1;
  for (size_t d = 0; d < least.size(); ++d) {
    if (__builtin_mul_overflow(count, most[d] - least[d] + 1, &count)) return INT64_MAX;
  }
  return count;
}

std::vector<Sizes> AllOf(const Sizes& least, const Sizes& most) {
  std::vector<Sizes> all = {{}};
  for (size_t d = 0; d < least.size(); ++d) {
    std::vector<Sizes> longer;
    for (const Sizes& begun : all) {
      for (int64_t size = least[d]; size <= most[d]; ++size)
        longer.emplace_back(begun).push_back(size);
    }
    all = std::move(longer);
  }
  return all;
}

/// Returns all sizes of each dimension, with the other dimensions at their most.
std::vector<Sizes> LinesOf(const Sizes& least, const Sizes& most) {
  constexpr int64_t kMostOfOne = 8192;
  std::vector<Sizes> sizes;
  for (size_t d = 0; d < least.size(); ++d) {
    for (int64_t size = std::max(least[d], most[d] - kMostOfOne); size <= most[d]; ++size)
      sizes.emplace_back(most)[d] = size;
  }
  return sizes;
}

}  // namespace

std::vector<Sizes> FindUnserved(const SizedForm& form, const SizedCode& code) {
  constexpr int64_t kMostCombinations = int64_t{1} << 16;
  std::vector<Sizes> unserved;
  if (form.conditions.empty() && code.conditions.empty()) return unserved;
  Sizes least = code.key.sizes;
  for (size_t d = 0; d < least.size(); ++d) {
    const ListedSizes& listed = form.listed[d];
    if (!code.key.open[d]) continue;
    const int64_t first = std::max(LeastOfBucket(least[d], listed), LeastRequested(listed));
    least[d] = std::min(least[d], first);
  }
  const bool is_small = CountOf(least, code.key.sizes) <= kMostCombinations;
  for (const Sizes& sizes :
       is_small ? AllOf(least, code.key.sizes) : LinesOf(least, code.key.sizes)) {
    if (FindFailed(form.conditions, sizes) == nullptr && code.Serves(sizes)) continue;
    unserved.push_back(sizes);
  }
  return unserved;
}

Result<std::vector<Sizes>> SizesOfRanges(const SizedForm& form, const SizedKey& key, size_t most,
                                         std::string_view why) {
  Sizes least = key.sizes;
  for (size_t d = 0; d < least.size(); ++d) {
    const ListedSizes& listed = form.listed[d];
    if (listed.exact) continue;
    const int64_t first = form.output_extents ? LeastOfBucket(key.sizes[d], listed) : 1;
    least[d] = std::min(key.sizes[d], std::max(first, LeastRequested(listed)));
  }
  if (CountOf(least, key.sizes) > static_cast<int64_t>(most))
    return std::unexpected(RangeError(form, why));
  return AllOf(least, key.sizes);
}

Error RangeError(const SizedForm& form, std::string_view why) {
  std::string names, lists;
  for (size_t d = 0; d < form.dimensions.size(); ++d) {
    if (form.listed[d].exact) continue;
    const std::string& name = form.dimensions[d];
    names += (names.empty() ? "" : ", ") + name;
    lists += fmt::format("{}{}={},{}", lists.empty() ? "" : " ", name, form.listed[d].sizes.front(),
                         form.listed[d].sizes.back());
  }
  return MakeError(
      ErrorCode::kUnsupported,
      "a range of {} needs code for each size, of more than {}: {}; list the sizes that are "
      "needed, as {}",
      names, kMostForThemselves, why, lists);
}

}  // namespace tunec
