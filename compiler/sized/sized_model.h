// A model that runs on inputs of any size, compiled when a run first wants it. What is compiled and
// how it is run is the runtime's to say (runtime/sized/sized_executable.h).
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/open_database.h"
#include "compiler/sized/learn_form.h"
#include "compiler/sized/sized_graph.h"
#include "compiler/sized/sized_source.h"
#include "db/database.h"
#include "runtime/sized/sized_executable.h"
#include "support/error.h"

namespace tunec {

struct SizedOptions {
  /// Of each dimension.
  std::vector<ListedSizes> listed;
  std::optional<size_t> most_variants = {};  // none: 24, on a device 96
  CompileOptions compile;
};

class SizedModel : public SizedExecutable {
 public:
  /// Imports the model at a few sizes; compiles for the listed ones, each combination, where all
  /// dimensions have some that are to be exact. `database` may be null. kResourceLimit: these are
  /// more than are kept.
  static Result<std::unique_ptr<SizedModel>> Make(SizedSource source, SizedOptions options,
                                                  std::unique_ptr<Database> database);

  std::optional<int> DeviceNumber() const override { return device_number_; }
  std::string Report() const override;

 protected:
  Result<VariantPtr> VariantFor(const Sizes& sizes) const override;
  Result<bool> Follows(const Sizes& sizes) const override;
  Status LookFurther(size_t dimension, int64_t size) const override;
  Result<Sizes> CutOf(size_t dimension, const Sizes& sizes) const override;

 private:
  SizedModel(SizedSource source, SizedOptions options, std::unique_ptr<Database> database);
  Status Learn();
  Status CompileListed();
  Result<VariantPtr> Compile(const SizedKey& key) const;
  using PaddedPtr = std::shared_ptr<const SizedGraph>;
  /// The graph that padded code was made of: made again where it is kept no longer.
  Result<PaddedPtr> PaddedFor(const SizedKey& key) const;
  /// Returns whether padded code computes the model of these sizes, which it serves.
  Result<bool> Computes(const SizedVariant& variant, const Sizes& sizes) const;
  /// What `check` says of these sizes, which is asked once for each. Fails where that is cancelled.
  Result<bool> Holds(std::map<Sizes, bool>& known, const Sizes& sizes,
                     const std::function<Status()>& check) const;
  /// How many runs of these sizes, of one element, are worth joining.
  Result<int64_t> Joined(const Sizes& single) const;

  SizedSource source_;
  SizedOptions options_;
  std::unique_ptr<Database> database_;
  std::string refusal_;  // why it cannot be padded; empty: it can
  std::optional<int> device_number_;

  mutable std::mutex looking_;
  mutable Sizes looked_;  // with the lock of looking_: as the form's `most`, by now

  bool checks_form_ = false;  // NeedsChecks of it

  mutable std::mutex mutex_;                                  // guards the members below
  mutable std::map<Sizes, bool> follows_;                     // results of Follows
  mutable std::map<Sizes, bool> computes_;                    // results of Computes
  mutable std::list<std::pair<SizedKey, PaddedPtr>> padded_;  // some, the last used one first
  mutable std::map<SizedKey, std::string> refused_;
  mutable std::map<Sizes, int64_t> joined_;
  mutable uint64_t compiled_ = 0;  // variants, those that are gone counted
};

}  // namespace tunec
