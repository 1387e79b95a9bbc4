// A model that runs on inputs of any size, compiled when a run first wants it. What is compiled and
// how it is run is the runtime's to say (runtime/sized/sized_executable.h).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/open_database.h"
#include "compiler/sized/learn_form.h"
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
  Status LookFurther(size_t dimension, int64_t size) const override;
  Result<Sizes> CutOf(size_t dimension, const Sizes& sizes) const override;

 private:
  SizedModel(SizedSource source, SizedOptions options, std::unique_ptr<Database> database);
  Status Learn();
  Status CompileListed();
  Result<VariantPtr> Compile(const SizedKey& key) const;
  /// How many runs of these sizes, of one element, are worth joining.
  Result<int64_t> Joined(const Sizes& single) const;

  SizedSource source_;
  SizedOptions options_;
  std::unique_ptr<Database> database_;
  std::string refusal_;  // why it cannot be padded; empty: it can
  std::optional<int> device_number_;

  mutable std::mutex looking_;
  mutable Sizes looked_;  // with the lock of looking_: as the form's `most`, by now

  mutable std::mutex mutex_;  // of what follows
  mutable std::map<SizedKey, std::string> refused_;
  mutable std::map<Sizes, int64_t> joined_;
  mutable uint64_t compiled_ = 0;  // variants, those that are gone counted
};

}  // namespace tunec
