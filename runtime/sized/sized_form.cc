#include "runtime/sized/sized_form.h"

#include <algorithm>
#include <set>
#include <span>

namespace tunec {

bool SizedKey::IsExact() const { return std::ranges::find(open, true) == open.end(); }

SizedKey ExactKey(const Sizes& sizes) { return {sizes, std::vector<bool>(sizes.size(), false)}; }

bool CanPad(const SizedForm& form, const Sizes& sizes) {
  return form.output_extents && FindFailed(form.conditions, sizes) == nullptr;
}

Error FailedCondition(const SizedForm& form, const SizeCheck& condition, const Sizes& sizes) {
  std::string text;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!condition.left.Has(d) && !condition.right.Has(d)) continue;
    const auto axis = std::ranges::find(form.open, static_cast<int>(d), &SizedAxis::dimension);
    text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", form.dimensions[d], sizes[d]);
    if (axis != form.open.end())
      text += fmt::format(" (input {} axis {})", form.inputs[axis->input].name, axis->axis);
  }
  return MakeError(ErrorCode::kInvalidArgument, "{}, expected {}", text, condition.text);
}

bool IsListed(const SizedForm& form, const Sizes& sizes) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    const ListedSizes& listed = form.listed[d];
    if (!listed.exact || !std::ranges::binary_search(listed.sizes, sizes[d])) return false;
  }
  return true;
}

namespace {

/// Gives two dimensions that must be equal the same size in the key.
void MakeEqual(const SizeCheck& check, const Sizes& sizes, SizedKey& key) {
  const std::optional<size_t> a = check.left.AsSize(), b = check.right.AsSize();
  if (check.kind != SizeCondition::Kind::kEqual || !a || !b) return;
  if (key.sizes[*a] == key.sizes[*b]) return;
  for (const size_t d : {*a, *b}) {
    key.sizes[d] = std::max(key.sizes[*a], key.sizes[*b]);
    key.open[d] = key.open[d] || key.sizes[d] != sizes[d];
  }
}

}  // namespace

SizedKey KeyFor(const SizedForm& form, const Sizes& sizes) {
  SizedKey key = ExactKey(sizes);
  if (!CanPad(form, sizes) || IsListed(form, sizes)) return key;
  std::vector<bool> is_shared(sizes.size(), false);
  bool some_open = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const ListedSizes& listed = form.listed[d];
    if (form.separable[d] && listed.sizes.empty()) continue;  // parts of a run have exact code
    const SizeBucket bucket = BucketOf(sizes[d], listed);
    const bool has_own = listed.exact && !listed.sizes.empty() && bucket.size == sizes[d];
    key.sizes[d] = bucket.size;
    key.open[d] = bucket.is_shared && !has_own;
    is_shared[d] = bucket.is_shared && !form.separable[d];
    some_open = some_open || (key.open[d] && is_shared[d]);
  }
  for (size_t d = 0; some_open && d < sizes.size(); ++d) key.open[d] = key.open[d] || is_shared[d];
  for (const SizeCheck& check : form.conditions) MakeEqual(check, sizes, key);
  return key;
}

namespace {

/// Returns sizes of the dimension for which KeyFor gives all keys. These are the listed sizes and,
/// with output extents, a smaller size for each bucket that serves other sizes than the listed one.
Sizes SizesServed(const SizedForm& form, size_t dimension) {
  const Sizes& listed = form.listed[dimension].sizes;
  Sizes served = listed;
  if (!form.output_extents) return served;
  // The parts of a split run have listed sizes, but one part may be smaller than all of them.
  const size_t padded = form.separable[dimension] ? 1 : listed.size();
  for (size_t i = 0; i < padded; ++i) {
    const int64_t below = listed[i] - 1;
    if (below >= 1 && !std::ranges::binary_search(listed, below)) served.push_back(below);
  }
  return served;
}

}  // namespace

Result<std::vector<SizedKey>> KeysOf(const SizedForm& form, size_t most) {
  std::vector<Sizes> all = {{}};
  for (size_t d = 0; d < form.dimensions.size(); ++d) {
    std::vector<Sizes> longer;
    const Sizes served = SizesServed(form, d);
    // Allows more combinations than keys, because several combinations may have the same key.
    if (all.size() * served.size() > 4 * most)
      return Fail(ErrorCode::kResourceLimit, "the sizes make more than {} executables", most);
    for (const Sizes& begun : all) {
      for (const int64_t size : served) longer.emplace_back(begun).push_back(size);
    }
    all = std::move(longer);
  }
  std::vector<SizedKey> exact, padded;
  std::set<SizedKey> seen;
  for (const Sizes& sizes : all) {
    SizedKey key = KeyFor(form, sizes);
    if (!seen.insert(key).second) continue;
    (key.IsExact() ? exact : padded).push_back(std::move(key));
  }
  exact.insert(exact.end(), padded.begin(), padded.end());
  if (exact.size() > most)
    return Fail(ErrorCode::kResourceLimit, "the sizes make {} executables, expected at most {}",
                exact.size(), most);
  return exact;
}

Result<std::vector<std::vector<int64_t>>> ShapesAt(const SizedForm& form, const Sizes& sizes) {
  std::vector<std::vector<int64_t>> shapes;
  for (size_t o = 0; o < form.outputs.size(); ++o) {
    TensorSpec spec{form.outputs[o].name, form.outputs[o].type, {}};
    for (const auto& parts : (*form.output_extents)[o]) {
      int64_t extent = 1;
      for (const SizeProgram& part : parts) {
        const std::optional<int64_t> size = part.ExtentAt(sizes);
        if (!size || __builtin_mul_overflow(extent, *size, &extent))
          return Fail(ErrorCode::kParse, "output '{}' has no size", spec.name);
      }
      spec.shape.push_back(extent);
    }
    TUNEC_RETURN_IF_ERROR(ByteSize(spec));
    shapes.push_back(std::move(spec.shape));
  }
  return shapes;
}

Result<Sizes> SizesOf(const SizedForm& form, std::span<const std::vector<int64_t>> shapes) {
  if (shapes.size() != form.inputs.size())
    return Fail(ErrorCode::kInvalidArgument, "{} inputs, expected {}", shapes.size(),
                form.inputs.size());
  Sizes sizes(form.dimensions.size(), -1);
  for (const SizedAxis& axis : form.open) {
    const auto& shape = shapes[axis.input];
    if (shape.size() <= static_cast<size_t>(axis.axis)) continue;
    int64_t& size = sizes[axis.dimension];
    if (size < 0) size = shape[axis.axis];
    if (size != shape[axis.axis])
      return Fail(ErrorCode::kInvalidArgument,
                  "input {} axis {}, {}, is {}, expected {} as in another input",
                  form.inputs[axis.input].name, axis.axis, form.dimensions[axis.dimension],
                  shape[axis.axis], size);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto& wanted = form.inputs[i].shape;
    bool fits = shapes[i].size() == wanted.size();
    for (size_t a = 0; fits && a < wanted.size(); ++a)
      fits = wanted[a] < 0 ? shapes[i][a] >= 1 : shapes[i][a] == wanted[a];
    if (!fits || !ByteSize({{}, form.inputs[i].type, shapes[i]}))
      return Fail(ErrorCode::kInvalidArgument, "input {} is {}, expected {}", form.inputs[i].name,
                  JoinSizes(shapes[i]), JoinSizes(wanted));
  }
  return sizes;
}

}  // namespace tunec
