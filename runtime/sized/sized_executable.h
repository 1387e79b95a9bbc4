// A dynamic-shape model, which runs inputs of many sizes on code for some sizes. A run is mapped to
// code in two steps:
//
//   sizes of a run -> parts (if runs can be split) -> per part, a variant for equal or larger sizes
//
// A derived class provides the variants, from a compiler or from a bundle.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/any_shape.h"
#include "runtime/sized/sized_form.h"
#include "runtime/sized/sized_variant.h"
#include "support/error.h"

namespace tunec {

/// A dynamic-shape model made of variants (sized_variant.h). Thread-safe, like AnyShape.
class SizedExecutable : public AnyShape {
 public:
  const SizedForm& form() const { return *form_; }
  const std::vector<TensorSpec>& Inputs() const override { return form_->inputs; }
  const std::vector<TensorSpec>& Outputs() const override { return form_->outputs; }
  Result<std::vector<Shape>> OutputShapes(std::span<const Shape> inputs) const override;
  Status Run(std::span<const Shape> shapes, std::span<const void* const> inputs,
             std::span<void* const> outputs, const RunOptions& options = {}) const override;
  Status Wait() const override;
  int64_t CountOutside() const override;

 protected:
  using VariantPtr = std::shared_ptr<const SizedVariant>;

  /// Makes a model with a cache of at most this number of variants, the most recently used ones.
  explicit SizedExecutable(size_t most_variants) : most_variants_(most_variants) {}
  /// Sets the form. Must be called before all other functions.
  void SetForm(SizedForm form) { form_ = std::make_shared<const SizedForm>(std::move(form)); }
  const std::shared_ptr<const SizedForm>& shared_form() const { return form_; }

  /// Returns a variant that computes a run, or a part of a split run, of these sizes. The variant's
  /// code is for exactly these sizes, or for the sizes of KeyFor, to which the run is padded.
  virtual Result<VariantPtr> VariantFor(const Sizes& sizes) const = 0;
  /// Returns the sizes into which runs of these sizes are split along a dimension. The last part
  /// may exceed the remaining size; the excess is padding. Requires: the dimension is separable.
  virtual Result<Sizes> CutOf(size_t dimension, const Sizes& sizes) const;

  /// Returns the cached variant with this key. If none is cached, calls `make` and caches the
  /// variant that `make` returns. Only one call at a time makes a variant.
  Result<VariantPtr> FindOrMake(const SizedKey& key,
                                const std::function<Result<VariantPtr>()>& make) const;
  /// Returns the cached variants with their keys, without evicted variants that runs still use.
  std::vector<std::pair<SizedKey, VariantPtr>> CachedVariants() const;

 private:
  struct CachedVariant {
    VariantPtr variant;
    uint64_t used = 0;
    bool has_memory = true;  // true: the variant retains memory of finished runs
  };

  Result<std::vector<Shape>> ResultShapes(const Sizes& sizes) const;
  Result<std::vector<SizedPart>> Cut(const Sizes& sizes) const;
  Result<std::vector<VariantPtr>> VariantsFor(const std::vector<SizedPart>& parts) const;
  size_t CountTogether(std::span<const VariantPtr> variants) const;
  VariantPtr Find(const SizedKey& key) const;
  void NoteUse(CachedVariant& cached) const;
  void NoteRun(const SizedVariant& variant) const;
  void Cache(const SizedKey& key, VariantPtr variant) const;
  void DropUnusedEvicted() const;

  const size_t most_variants_;
  std::shared_ptr<const SizedForm> form_;
  mutable std::mutex making_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::map<SizedKey, CachedVariant> variants_;
  mutable std::vector<VariantPtr> evicted_;  // evicted variants that are still used by a run
  mutable uint64_t clock_ = 0;
  mutable int64_t outside_of_evicted_ = 0;  // indices counted by variants before their eviction
};

}  // namespace tunec
