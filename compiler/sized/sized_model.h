// A dynamic-shape model. Code for exact listed sizes can be compiled at once, all other code when a
// run needs it. The runtime decides which code a run needs (runtime/sized/sized_executable.h).
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
#include "compiler/options/open_database.h"
#include "compiler/sized/learn_form.h"
#include "compiler/sized/sized_graph.h"
#include "compiler/sized/sized_source.h"
#include "db/database.h"
#include "runtime/sized/sized_executable.h"
#include "support/error.h"

namespace tunec {

/// The requested sizes of a dynamic-shape model, and options for compiling and retaining its code.
struct SizedOptions {
  /// Sizes of each dimension for which code is requested; empty: none. Runs may have other sizes.
  std::vector<ListedSizes> listed;
  /// The maximum number of retained executables; none: 24, or 96 on a device.
  std::optional<size_t> most_variants = {};
  CompileOptions compile;
};

/// A dynamic-shape model with its compiler. Thread-safe.
class SizedModel : public SizedExecutable {
 public:
  /// Imports the model at a few sizes. If every dimension has exact listed sizes, compiles each
  /// combination of them. `database` may be null. Fails with kResourceLimit if there are more
  /// combinations than can be retained.
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
  /// Returns the graph of the key (GraphFor). A graph that is not cached is made.
  Result<PaddedPtr> PaddedFor(const SizedKey& key) const;
  /// Returns true if the variant's code computes the model of these sizes correctly. Runs
  /// CheckPadded only if NeedsChecks. Requires: the code serves the sizes.
  Result<bool> Computes(const SizedVariant& variant, const Sizes& sizes) const;
  /// Returns true if `check` succeeds for these sizes. Caches the result in `known`, and an error
  /// in rejected_. Fails with kCancelled if the check is cancelled.
  Result<bool> Holds(std::map<Sizes, bool>& known, const Sizes& sizes,
                     const std::function<Status()>& check) const;
  /// Returns the number of runs of the sizes `single` that are worth joining to one run, or 1 if
  /// there is no graph. Each of these runs has one element along the split dimension.
  Result<int64_t> Joined(const Sizes& single) const;

  SizedSource source_;
  SizedOptions options_;
  std::unique_ptr<Database> database_;
  std::string rejection_;  // why the model cannot be padded; empty: it can
  std::optional<int> device_number_;

  mutable std::mutex looking_;
  mutable Sizes looked_;  // guarded by looking_: largest verified sizes, like the form's `most`

  bool checks_form_ = false;  // result of NeedsChecks for the form

  mutable std::mutex mutex_;                // guards the members below
  mutable std::map<Sizes, bool> follows_;   // results of Follows
  mutable std::map<Sizes, bool> computes_;  // results of Computes
  /// At most 8 graphs that PaddedFor has returned, the most recently used first.
  mutable std::list<std::pair<SizedKey, PaddedPtr>> padded_;
  mutable std::map<SizedKey, std::string> rejected_;
  mutable std::map<Sizes, int64_t> joined_;
  mutable uint64_t compiled_ = 0;  // number of compiled executables, including evicted ones
};

}  // namespace tunec
