#include "compiler/bundle/check_served.h"

#include <algorithm>
#include <optional>
#include <string>

#include "compiler/sized/check_sizes.h"
#include "support/random.h"

namespace tunec {
namespace {

constexpr int64_t kMostOfOne = 8192;  // limit of the compared sizes of one dimension
constexpr int64_t kFewInAll = 256;    // up to this number all combinations are compared
constexpr int kFurther = 64;          // number of random combinations above that
// If the form needs checks, a run has at most kCutUpTo elements along a separable dimension, or
// kTimesTheListed times the largest listed size if that is more.
constexpr int64_t kCutUpTo = 64;
constexpr int64_t kTimesTheListed = 4;

/// Returns the least requested size: 1 for a list, and for a range the least size in the bucket of
/// the first listed size (RoundUpSize).
int64_t LeastRequestedSizes(const ListedSizes& listed) {
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

/// Adds all sizes of each dimension, with the other dimensions as in `base`.
void AddLines(const Sizes& least, const Sizes& most, const Sizes& base, std::vector<Sizes>& sizes) {
  for (size_t d = 0; d < least.size(); ++d) {
    for (int64_t size = least[d]; size <= most[d]; ++size) sizes.emplace_back(base)[d] = size;
  }
}

std::unexpected<Error> CannotBeRange(const SizedSource& source, const SizedForm& form,
                                     std::string_view why) {
  std::string names, lists;
  for (size_t d = 0; d < source.dimensions.size(); ++d) {
    if (form.listed[d].exact) continue;
    const std::string& name = source.dimensions[d];
    names += (names.empty() ? "" : ", ") + name;
    lists += fmt::format("{}{}={},{}", lists.empty() ? "" : " ", name, form.listed[d].sizes.front(),
                         form.listed[d].sizes.back());
  }
  return Fail(
      ErrorCode::kUnsupported,
      "a range of {} needs code for each size, of more than {}: {}; list the sizes that are "
      "needed, as {}",
      names, kMostForThemselves, why, lists);
}

/// Sizes for which a form does not hold, and the reason. The sizes are the example's if the form
/// cannot be compared.
struct Difference {
  Sizes sizes;
  std::string why;
};

/// Compares the form with the graphs of SizesToCompare, and limits runs of separable dimensions to
/// the compared range. Sizes without a graph are skipped. Returns the first difference, or none. A
/// range that is too large is a difference, too.
Result<std::optional<Difference>> FindDifference(const SizedSource& source, SizedForm& form) {
  Sizes least, most;
  for (size_t d = 0; d < form.dimensions.size(); ++d) {
    const int64_t listed = form.listed[d].sizes.back();
    const int64_t cut = std::max(kCutUpTo, kTimesTheListed * listed);
    if (form.separable[d]) form.most[d] = std::min(form.most[d], cut);
    most.push_back(form.separable[d] ? form.most[d] : listed);
    least.push_back(form.separable[d] ? 1 : LeastRequestedSizes(form.listed[d]));
  }
  const Result<std::vector<Sizes>> compared = SizesToCompare(least, most);
  if (!compared) return Difference{source.example, compared.error().message};
  for (const Sizes& sizes : *compared) {
    const Status holds = CheckForm(source, form, sizes);
    if (holds) continue;
    if (IsCancelled(holds.error())) return std::unexpected(holds.error());
    TUNEC_ASSIGN(const std::optional<Graph> graph, source.GraphIfAny(sizes));
    if (graph) return Difference{sizes, holds.error().message};
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Sizes>> SizesToCompare(const Sizes& least, const Sizes& most) {
  for (size_t d = 0; d < least.size(); ++d) {
    if (most[d] - least[d] >= kMostOfOne)
      return Fail(ErrorCode::kUnsupported,
                  "the range {} to {} is too large, expected at most {} sizes", least[d], most[d],
                  kMostOfOne);
  }
  if (CountOf(least, most) <= kFewInAll) return AllOf(least, most);
  std::vector<Sizes> sizes;
  AddLines(least, most, least, sizes);
  AddLines(least, most, most, sizes);
  Random random(1);
  for (int i = 0; i < kFurther && least.size() > 1; ++i) {
    Sizes& further = sizes.emplace_back(least);
    for (size_t d = 0; d < least.size(); ++d)
      further[d] +=
          static_cast<int64_t>(random.Below(static_cast<uint64_t>(most[d] - least[d]) + 1));
  }
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  return sizes;
}

Status DropFailingForms(const SizedSource& source, LearntForm& learnt) {
  const SizedForm whole = learnt.form;
  TUNEC_ASSIGN(std::optional<Difference> found, FindDifference(source, learnt.form));
  if (!found) return {};
  // Splitting of runs may be the only fault, so padding is tried without splitting.
  learnt.form = whole;
  learnt.form.separable.assign(whole.separable.size(), false);
  if (whole.separable != learnt.form.separable) {
    TUNEC_ASSIGN(found, FindDifference(source, learnt.form));
  }
  if (!found) return {};
  return RejectForm(source, found->why, learnt, {found->sizes});
}

Sizes LeastRequestedSizes(const SizedForm& form, const SizedCode& code) {
  Sizes least = code.least;
  for (size_t d = 0; d < least.size(); ++d) {
    const ListedSizes& listed = form.listed[d];
    if (code.key.open[d] && !listed.exact)
      least[d] = std::max(least[d], LeastRequestedSizes(listed));
  }
  return least;
}

Result<std::vector<Sizes>> FindDifferingSizes(const SizedSource& source, const SizedGraph& padded,
                                              size_t most) {
  std::vector<Sizes> differ;
  if (!NeedsChecks(source, padded.code)) return differ;
  TUNEC_ASSIGN(const std::vector<Sizes> compared,
               SizesToCompare(padded.code.least, padded.code.key.sizes));
  for (const Sizes& sizes : compared) {
    Status computes = CheckPadded(source, padded, sizes);
    if (computes) continue;
    if (IsCancelled(computes.error())) return std::unexpected(std::move(computes).error());
    if (differ.size() >= most) return Fail(ErrorCode::kUnsupported, "{}", computes.error().message);
    TUNEC_ASSIGN(const std::optional<Graph> graph, source.GraphIfAny(sizes));
    if (!graph) return Fail(ErrorCode::kUnsupported, "there is no graph for {}", JoinSizes(sizes));
    differ.push_back(sizes);
  }
  return differ;
}

Result<std::vector<Sizes>> SizesOfRanges(const SizedSource& source, const SizedForm& form,
                                         const SizedKey& key, size_t most, std::string_view why) {
  Sizes least = key.sizes;
  for (size_t d = 0; d < least.size(); ++d) {
    const ListedSizes& listed = form.listed[d];
    if (listed.exact) continue;
    const int64_t first = form.output_extents ? LeastOfBucket(key.sizes[d], listed) : 1;
    least[d] = std::min(key.sizes[d], std::max(first, LeastRequestedSizes(listed)));
  }
  if (CountOf(least, key.sizes) > static_cast<int64_t>(most))
    return CannotBeRange(source, form, why);
  return AllOf(least, key.sizes);
}

}  // namespace tunec
