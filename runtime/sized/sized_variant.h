// The code of a model for one set of sizes, and what it takes to run smaller ones on it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/copy_box.h"
#include "runtime/executable.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec {

/// A run of a variant on a part of the caller's arrays: along each dimension it begins somewhere
/// and has some size, of as many as the caller's arrays have.
struct SizedPart {
  Sizes whole;
  Sizes begin;
  Sizes size;
};

/// What code for some sizes is, beside what it runs.
struct SizedCode {
  SizedKey key;
  Sizes least;  // of each dimension, that it serves: what an exact one has, and no more than that
  std::vector<SizedParameter> parameters;
  bool operator==(const SizedCode&) const = default;
  /// Whether it is for a run of these sizes. Requires: its key is KeyFor of them, or exactly them.
  bool Serves(const Sizes& sizes) const;
};

/// Whether code with these inputs and outputs is the form's at these sizes: tensors have the sizes
/// that the form gives them, parameters follow the other inputs, the least sizes are no more than
/// its own. kParse names what is not.
Status CheckCode(const SizedForm& form, const SizedCode& code, std::span<const TensorSpec> inputs,
                 std::span<const TensorSpec> outputs);

/// All const members may be called from several threads at once.
class SizedVariant {
 public:
  /// Requires: CheckCode was content, and the form is as CheckSizes wants it
  /// (runtime/bundle/stored_sizes.h).
  SizedVariant(std::shared_ptr<const SizedForm> form, SizedCode code,
               std::shared_ptr<const Executable> executable);
  ~SizedVariant();

  const Executable& executable() const { return *executable_; }
  const SizedCode& code() const { return code_; }
  /// Runs of parts of one run, each on a variant of one form, none of which writes what another
  /// reads. Inputs and outputs are the caller's whole arrays, of the shapes that the form gives
  /// them for part.whole. Nothing else is touched whatever the formulas say. kParse where these do
  /// not fit the arrays. `options`: as AnyShape::Run's. Requires: there is one part, or the
  /// variants' executables go together.
  static Status Run(std::span<const std::shared_ptr<const SizedVariant>> variants,
                    std::span<const SizedPart> parts, std::span<const void* const> inputs,
                    std::span<void* const> outputs, const RunOptions& options = {});
  /// Frees what runs that are over have left for the next one.
  void FreeIdle() const;

 private:
  struct Buffers;
  struct PartRun;
  /// What of one of the caller's arrays a tensor of the code is: what lies there, or a box of it.
  struct Place {
    int64_t offset = 0;  // bytes
    std::optional<BoxCopy> box;
  };
  struct Places {
    std::vector<Place> inputs;
    std::vector<Place> outputs;
  };
  Result<Places> PlacesOf(const SizedPart& part) const;
  Place PlaceOfInput(const SizedPart& part, size_t i) const;
  Result<Place> PlaceOfOutput(const SizedPart& part, size_t o) const;

  /// Returns whether the parts are one run of exactly this code, whose arrays are the caller's.
  bool IsWhole(std::span<const SizedPart> parts) const;
  std::unique_ptr<Buffers> TakeBuffers() const;
  void GiveBack(std::unique_ptr<Buffers> buffers) const;
  Status Begin(const SizedPart& part, std::vector<PartRun>& runs) const;
  Status Prepare(PartRun& run, std::span<const void* const> inputs,
                 std::span<void* const> outputs) const;
  static Status RunHere(std::span<PartRun> runs, std::span<const void* const> inputs,
                        std::span<void* const> outputs, const RunOptions& options);
  Status RunThere(const Buffers& buffers, const Places& places, std::span<const void* const> inputs,
                  std::span<void* const> outputs, const RunOptions& options) const;
  Result<const void*> PutInput(const Place& place, size_t i, const void* data,
                               Buffers& buffers) const;
  Status SetParameters(const Sizes& sizes, Buffers& buffers) const;

  std::shared_ptr<const SizedForm> form_;
  SizedCode code_;
  std::vector<std::vector<int>> open_;  // of each input, of each axis: its dimension, or -1
  std::shared_ptr<const Executable> executable_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Buffers>> free_;
};

}  // namespace tunec
