#include "runtime/sized/sized_executable.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <string_view>

#include "runtime/run_context.h"

namespace tunec {
namespace {

constexpr int64_t kMostWithMemory = 4;

// Greatest memory of parts that run together. More memory would not fit in the cache.
constexpr int64_t kMostTogetherBytes = int64_t{16} << 20;

// Returns the number of bytes of a tensor, or 0 if ByteSize fails. Unlike ByteSize, needs no new
// spec: a run calls this function for hundreds of inputs.
int64_t BytesOf(const TensorSpec& spec, const Shape& shape) {
  constexpr int64_t kMost = int64_t{1} << 56;
  auto bytes = static_cast<int64_t>(SizeOf(spec.type));
  for (const int64_t size : shape) {
    if (size <= 0 || bytes > kMost / size) return 0;
    bytes *= size;
  }
  return bytes;
}

// Checks that no pointer to an array with elements is null. A variant checks only the arrays used
// in place, and no copied arrays.
template <class Pointer>
Status CheckGiven(std::string_view what, const std::vector<TensorSpec>& specs,
                  std::span<const Shape> shapes, std::span<Pointer const> data) {
  for (size_t i = 0; i < specs.size(); ++i) {
    const int64_t bytes = BytesOf(specs[i], shapes[i]);
    if (data[i] == nullptr && bytes > 0)
      return Fail(ErrorCode::kInvalidArgument, "{} '{}' is null, expected {} bytes", what,
                  specs[i].name, bytes);
  }
  return {};
}

/// The caller's arrays of a run.
struct Arrays {
  const std::vector<TensorSpec>& input_specs;
  std::span<const Shape> input_shapes;
  std::span<const void* const> inputs;
  const std::vector<TensorSpec>& output_specs;
  const std::vector<Shape>& output_shapes;
  std::span<void* const> outputs;

  bool LiesInOutputs(size_t input) const {
    const int64_t bytes = BytesOf(input_specs[input], input_shapes[input]);
    for (size_t o = 0; o < outputs.size(); ++o)
      if (Overlap(inputs[input], bytes, outputs[o], OutputBytes(o))) return true;
    return false;
  }
  bool SomeLieInOutputs() const {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (LiesInOutputs(i)) return true;
    return false;
  }
  int64_t OutputBytes(size_t o) const { return BytesOf(output_specs[o], output_shapes[o]); }
};

/// The inputs of a run on the host. Inputs that overlap an output are replaced by copies.
class CopiedInputs {
 public:
  explicit CopiedInputs(const Arrays& run) : data_(run.inputs.begin(), run.inputs.end()) {
    for (size_t i = 0; i < data_.size(); ++i) {
      if (!run.LiesInOutputs(i)) continue;
      const auto* begin = static_cast<const std::byte*>(run.inputs[i]);
      const std::byte* end = begin + BytesOf(run.input_specs[i], run.input_shapes[i]);
      data_[i] = copies_.emplace_back(begin, end).data();
    }
  }

  std::span<const void* const> data() const { return data_; }

 private:
  std::vector<const void*> data_;
  std::list<std::vector<std::byte>> copies_;
};

SizedPart Uncut(const Sizes& sizes) { return {sizes, Sizes(sizes.size(), 0), sizes}; }

}  // namespace

Result<Sizes> SizedExecutable::CutOf(size_t dimension, const Sizes& sizes) const {
  return CutSize(sizes[dimension], form_->listed[dimension].sizes);
}

Result<std::vector<SizedPart>> SizedExecutable::Cut(const Sizes& sizes) const {
  std::vector<SizedPart> parts = {Uncut(sizes)};
  if (!CanPad(*form_, sizes) || IsListed(*form_, sizes)) return parts;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!form_->separable[d]) continue;
    TUNEC_ASSIGN(const Sizes cut, CutOf(d, sizes));
    std::vector<SizedPart> finer;
    for (const SizedPart& part : parts) {
      int64_t begin = 0;
      for (const int64_t size : cut) {
        SizedPart& one = finer.emplace_back(part);
        one.begin[d] = begin;
        one.size[d] = std::min(size, sizes[d] - begin);
        begin += size;
      }
    }
    parts = std::move(finer);
  }
  return parts;
}

SizedExecutable::VariantPtr SizedExecutable::Find(const SizedKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = variants_.find(key);
  if (found == variants_.end()) return nullptr;
  NoteUse(found->second);
  return found->second.variant;
}

// Requires: mutex_ is locked. The memory of intermediate values grows with the sizes of a run. So
// only the kMostWithMemory variants that were used last retain memory.
void SizedExecutable::NoteUse(CachedVariant& cached) const {
  cached.used = ++clock_;
  if (cached.has_memory) return;
  cached.has_memory = true;
  const auto has_memory = [](const auto& each) { return each.second.has_memory; };
  if (std::ranges::count_if(variants_, has_memory) <= kMostWithMemory) return;
  CachedVariant* oldest = &cached;
  for (auto& [key, each] : variants_) {
    if (each.has_memory && each.used < oldest->used) oldest = &each;
  }
  oldest->has_memory = false;
  oldest->variant->FreeIdle();
}

// Notes that a part has run on the variant. The variant may have been evicted, or its memory freed,
// since the run began. The memory that the part has left is freed for an evicted variant, and
// counted for a cached variant.
void SizedExecutable::NoteRun(const SizedVariant& variant) const {
  const std::lock_guard lock(mutex_);
  const auto found = variants_.find(variant.code().key);
  const bool is_cached = found != variants_.end() && found->second.variant.get() == &variant;
  if (is_cached) return NoteUse(found->second);
  variant.FreeIdle();
}

void SizedExecutable::Cache(const SizedKey& key, VariantPtr variant) const {
  const std::lock_guard lock(mutex_);
  CachedVariant& cached = variants_[key] = {.variant = std::move(variant), .has_memory = false};
  NoteUse(cached);
  while (variants_.size() > most_variants_) {
    const auto oldest =
        std::ranges::min_element(variants_, {}, [](const auto& each) { return each.second.used; });
    evicted_.push_back(std::move(oldest->second.variant));
    variants_.erase(oldest);
  }
  DropUnusedEvicted();
}

// Requires: mutex_ is locked. Retains evicted variants that a run still uses, because such a run
// may count further indices.
void SizedExecutable::DropUnusedEvicted() const {
  std::erase_if(evicted_, [&](const VariantPtr& variant) {
    if (variant.use_count() > 1) return false;
    outside_of_evicted_ += variant->executable().CountOutside();
    return true;
  });
}

Result<SizedExecutable::VariantPtr> SizedExecutable::FindOrMake(
    const SizedKey& key, const std::function<Result<VariantPtr>()>& make) const {
  if (VariantPtr found = Find(key)) return found;
  const std::lock_guard one_at_a_time(making_);
  if (VariantPtr found = Find(key)) return found;
  TUNEC_ASSIGN(VariantPtr variant, make());
  Cache(key, variant);
  return variant;
}

std::vector<std::pair<SizedKey, SizedExecutable::VariantPtr>> SizedExecutable::CachedVariants()
    const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<SizedKey, VariantPtr>> all;
  for (const auto& [key, cached] : variants_) all.emplace_back(key, cached.variant);
  return all;
}

int64_t SizedExecutable::CountOutside() const {
  const std::lock_guard lock(mutex_);
  int64_t count = outside_of_evicted_;
  for (const VariantPtr& variant : evicted_) count += variant->executable().CountOutside();
  for (const auto& [key, cached] : variants_) count += cached.variant->executable().CountOutside();
  return count;
}

Result<std::vector<Shape>> SizedExecutable::OutputShapes(std::span<const Shape> inputs) const {
  TUNEC_ASSIGN(const Sizes sizes, SizesOf(*form_, inputs));
  return ResultShapes(sizes);
}

Result<std::vector<Shape>> SizedExecutable::ResultShapes(const Sizes& sizes) const {
  if (CanPad(*form_, sizes)) return ShapesAt(*form_, sizes);
  TUNEC_ASSIGN(const VariantPtr variant, VariantFor(sizes));
  std::vector<Shape> shapes;
  for (const TensorSpec& spec : variant->executable().Outputs()) shapes.push_back(spec.shape);
  return shapes;
}

Result<std::vector<SizedExecutable::VariantPtr>> SizedExecutable::VariantsFor(
    const std::vector<SizedPart>& parts) const {
  std::vector<VariantPtr> variants;
  for (const SizedPart& part : parts) {
    TUNEC_ASSIGN(variants.emplace_back(), VariantFor(part.size));
  }
  return variants;
}

// Returns how many of the parts with these variants, from the first, run together. Parts on a
// device do not, because each part reuses the memory for parameters that the previous part has
// returned.
size_t SizedExecutable::CountTogether(std::span<const VariantPtr> variants) const {
  const Executable& first = variants[0]->executable();
  int64_t bytes = first.Memory().per_context;
  size_t count = 1;
  for (; count < variants.size(); ++count) {
    const Executable& next = variants[count]->executable();
    bytes += next.Memory().per_context;
    if (bytes > kMostTogetherBytes || !next.CanBatchWith(first)) break;
  }
  return count;
}

Status SizedExecutable::Run(std::span<const Shape> shapes, std::span<const void* const> inputs,
                            std::span<void* const> outputs, const RunOptions& options) const {
  TUNEC_ASSIGN(const Sizes sizes, SizesOf(*form_, shapes));
  TUNEC_ASSIGN(const std::vector<Shape> results, ResultShapes(sizes));
  TUNEC_RETURN_IF_ERROR(CheckGiven<const void*>("input", form_->inputs, shapes, inputs));
  TUNEC_RETURN_IF_ERROR(CheckGiven<void*>("output", form_->outputs, results, outputs));
  const Arrays run{form_->inputs, shapes, inputs, form_->outputs, results, outputs};
  // A variant checks only its part. Parts of outputs may be disjoint although the outputs overlap.
  TUNEC_RETURN_IF_ERROR(
      CheckDisjoint(form_->outputs, outputs, [&](size_t o) { return run.OutputBytes(o); }));
  TUNEC_ASSIGN(std::vector<SizedPart> parts, Cut(sizes));
  // A part must not write data that a later part reads. On the host, inputs that overlap outputs
  // are copied first. On a device, the run is not split.
  const bool meets = parts.size() > 1 && run.SomeLieInOutputs();
  const bool on_host = !DeviceNumber();
  if (meets && !on_host) parts = {Uncut(sizes)};
  std::optional<CopiedInputs> copied;
  if (meets && on_host) inputs = copied.emplace(run).data();
  // Makes all variants before the first part runs. If this fails, no output was written.
  TUNEC_ASSIGN(std::vector<VariantPtr> variants, VariantsFor(parts));
  Status status;
  for (size_t i = 0, count = 0; status && i < parts.size(); i += count) {
    count = CountTogether(std::span(variants).subspan(i));
    const auto together = std::span(variants).subspan(i, count);
    status =
        SizedVariant::Run(together, std::span(parts).subspan(i, count), inputs, outputs, options);
    for (const VariantPtr& variant : together) NoteRun(*variant);
  }
  variants.clear();
  const std::lock_guard lock(mutex_);
  DropUnusedEvicted();
  return status;
}

Status SizedExecutable::Wait() const {
  Status first;
  for (const auto& [key, variant] : CachedVariants()) {
    const Status waited = variant->executable().Wait();
    if (first) first = waited;
  }
  return first;
}

}  // namespace tunec
