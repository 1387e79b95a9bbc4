// A dynamic-shape model. Code for exact listed sizes can be compiled at once, all other code when a
// run needs it. The runtime decides which code a run needs (runtime/sized/sized_executable.h).
#pragma once

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
  /// The maximum number of retained executables; none: 48, or 96 on a device.
  std::optional<size_t> most_variants = {};
  CompileOptions compile;
};

/// A dynamic-shape model with its compiler. Thread-safe.
class SizedModel : public SizedExecutable {
 public:
  /// Finds the model's form. If every dimension has exact listed sizes, compiles each
  /// combination of them. `database` may be null. Fails with kResourceLimit if there are more
  /// combinations than can be retained.
  static Result<std::unique_ptr<SizedModel>> Make(SizedSource source, SizedOptions options,
                                                  std::unique_ptr<Database> database);

  std::optional<int> DeviceNumber() const override { return device_number_; }
  std::string Report() const override;

 protected:
  Result<VariantPtr> VariantFor(const Sizes& sizes) const override;
  Result<Sizes> CutOf(size_t dimension, const Sizes& sizes) const override;

 private:
  SizedModel(SizedSource source, SizedOptions options, std::unique_ptr<Database> database);
  Status Learn();
  Status CompileListed();
  Result<VariantPtr> Compile(const SizedKey& key) const;
  /// Returns the number of runs that are worth joining to one run along a dimension, or 1 if there
  /// is no graph. Each of these runs has one element along the dimension, and these other sizes.
  Result<int64_t> Joined(size_t dimension, Sizes sizes) const;
  /// Returns the inputs that do not vary along a dimension.
  std::vector<ValueId> SharedInputs(const Graph& graph, size_t dimension) const;

  SizedSource source_;
  SizedOptions options_;
  std::unique_ptr<Database> database_;
  LearntForm learnt_;  // its form is moved to the base class
  std::optional<int> device_number_;

  mutable std::mutex mutex_;  // guards the members below
  mutable std::map<SizedKey, std::string> rejected_;
  mutable std::map<std::pair<size_t, Sizes>, int64_t> joined_;
  mutable uint64_t compiled_ = 0;  // number of compiled executables, including evicted ones
};

}  // namespace tunec
