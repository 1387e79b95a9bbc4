// A model that runs on inputs of any size that there is code for.
//
//   sizes of a run -> parts (where the model may be cut) -> a variant each, of the next larger size
//
// Where variants come from is a derived class's to say: from a compiler, from a bundle.
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

  /// Keeps at most so many variants; the one that was used longest ago goes first.
  explicit SizedExecutable(size_t most_variants) : most_variants_(most_variants) {}
  /// Before anything else is called.
  void SetForm(SizedForm form) { form_ = std::make_shared<const SizedForm>(std::move(form)); }
  const std::shared_ptr<const SizedForm>& shared_form() const { return form_; }

  /// What a run, or a part of one, of these sizes takes: of KeyFor, or an exact one. Always an
  /// exact one if Follows returns false.
  virtual Result<VariantPtr> VariantFor(const Sizes& sizes) const = 0;
  /// Returns whether the form holds for these sizes: outputs have the form's shapes, and elements
  /// along separable dimensions are computed as in a run of any other size. If false, the run is
  /// not cut, and outputs have the shapes of the exact code.
  virtual Result<bool> Follows(const Sizes& /*sizes*/) const { return true; }
  /// Before a run of a size beyond those that the form knows of (`most`): whether the model is as
  /// the form says there, too.
  virtual Status LookFurther(size_t dimension, int64_t size) const = 0;
  /// Into what sizes runs of these are cut along a dimension: the last may be larger than what is
  /// left. Requires: it is separable.
  virtual Result<Sizes> CutOf(size_t dimension, const Sizes& sizes) const;

  /// The variant of this key that is kept, or what `make` gives, which is kept from now on. One
  /// call at a time makes something.
  Result<VariantPtr> FindOrMake(const SizedKey& key,
                                const std::function<Result<VariantPtr>()>& make) const;
  /// Those that are kept, by their keys.
  std::vector<std::pair<SizedKey, VariantPtr>> Kept() const;

 private:
  struct KeptVariant {
    VariantPtr variant;
    uint64_t used = 0;
    bool has_memory = true;  // of runs that are over
  };

  Result<Sizes> KnownSizesOf(std::span<const Shape> shapes) const;
  Result<std::vector<Shape>> ResultShapes(const Sizes& sizes) const;
  Result<std::vector<SizedPart>> Cut(const Sizes& sizes) const;
  Result<std::vector<SizedPart>> PartsOf(const Sizes& sizes) const;
  Result<std::vector<VariantPtr>> VariantsFor(const std::vector<SizedPart>& parts) const;
  size_t CountTogether(std::span<const VariantPtr> variants) const;
  VariantPtr Find(const SizedKey& key) const;
  void NoteUse(KeptVariant& kept) const;
  void NoteRun(const SizedVariant& variant) const;
  void Keep(const SizedKey& key, VariantPtr variant) const;
  void DropGone() const;

  const size_t most_variants_;
  std::shared_ptr<const SizedForm> form_;
  mutable std::mutex making_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::map<SizedKey, KeptVariant> variants_;
  mutable std::vector<VariantPtr> gone_;  // that are kept no longer, until no run has them
  mutable uint64_t clock_ = 0;
  mutable int64_t outside_of_gone_ = 0;  // indices that variants counted before they went
};

}  // namespace tunec
