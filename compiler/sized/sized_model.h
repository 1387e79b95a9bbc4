// A model that runs on inputs of any size: executables for some sizes, and runs of others on them.
//
//   sizes of a run -> parts (where the model may be cut) -> a variant each, of the next larger size
//
// Variants are compiled when a run first wants them. The one that was used longest ago goes first.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/open_database.h"
#include "compiler/sized/sized_source.h"
#include "compiler/sized/sized_variant.h"
#include "db/database.h"
#include "runtime/any_shape.h"
#include "support/error.h"

namespace tunec {

struct SizedOptions {
  /// Of each dimension: the sizes that are compiled for exactly, ascending. None: sizes that
  /// RoundUpSize chooses, as runs want them.
  std::vector<Sizes> listed;
  size_t most_variants = 24;
  CompileOptions compile;
};

class SizedModel : public AnyShape {
 public:
  /// Imports the model at a few sizes; compiles for the listed ones, each combination, where all
  /// dimensions have some. `database` may be null.
  static Result<std::unique_ptr<SizedModel>> Make(SizedSource source, SizedOptions options,
                                                  std::unique_ptr<Database> database);

  const std::vector<TensorSpec>& Inputs() const override { return inputs_; }
  const std::vector<TensorSpec>& Outputs() const override { return outputs_; }
  Result<std::vector<Shape>> OutputShapes(std::span<const Shape> inputs) const override;
  Status Run(std::span<const Shape> shapes, std::span<const void* const> inputs,
             std::span<void* const> outputs) const override;
  const char* Report() const override;

 private:
  /// What is asked for: sizes, and which dimensions may have less. An exact one may have none.
  struct Key {
    Sizes sizes;
    std::vector<bool> open;
    auto operator<=>(const Key&) const = default;
  };
  struct Kept {
    std::shared_ptr<const SizedVariant> variant;
    uint64_t used = 0;
    bool has_memory = true;  // of runs that are over
  };
  using VariantPtr = std::shared_ptr<const SizedVariant>;

  SizedModel(SizedSource source, SizedOptions options, std::unique_ptr<Database> database)
      : source_(std::move(source)), options_(std::move(options)), database_(std::move(database)) {}
  Status Learn();
  Status LearnOutputs(const Graph& example);
  Status CompileListed();
  Result<Sizes> SizesOf(std::span<const Shape> shapes) const;
  Key KeyFor(const Sizes& sizes) const;
  bool IsListed(const Sizes& sizes) const;
  std::vector<int64_t> PartsOf(size_t dimension, const Sizes& sizes) const;
  Result<std::vector<SizedPart>> Cut(const Sizes& sizes) const;
  Result<VariantPtr> VariantFor(const Sizes& sizes) const;
  VariantPtr Find(const Key& key) const;
  void NoteUse(Kept& kept) const;
  VariantPtr Keep(const Key& key, VariantPtr variant) const;
  Result<VariantPtr> CompileFor(const Key& key) const;

  const SizedSource source_;
  SizedOptions options_;
  const std::unique_ptr<Database> database_;
  std::vector<TensorSpec> inputs_;
  std::vector<TensorSpec> outputs_;
  std::shared_ptr<const OutputForm> form_;  // null: nothing can be padded
  std::vector<bool> separable_;
  std::string refusal_;  // why not, where there is no form

  mutable std::mutex compiling_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::map<Key, Kept> variants_;
  mutable std::map<Key, std::string> refused_;
  mutable std::map<Sizes, int64_t> joined_;
  mutable std::list<std::string> reports_;  // all that were given out
  mutable uint64_t clock_ = 0;
  mutable uint64_t compiled_ = 0;  // variants, those that are gone counted
};

}  // namespace tunec
