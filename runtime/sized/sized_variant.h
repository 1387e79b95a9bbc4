// The code of a model for one set of sizes, and runs of these or smaller sizes on this code.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/copy_slice.h"
#include "runtime/executable.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec {

/// A part of a run: a slice of the caller's arrays. `whole` has the sizes of the arrays; `begin`
/// and `size` give the slice along each dimension.
struct SizedPart {
  Sizes whole;
  Sizes begin;
  Sizes size;
};

/// Description of the code for some sizes, without the executable.
struct SizedCode {
  SizedKey key;
  std::vector<SizedParameter> parameters;
  std::vector<SizeCheck> conditions;  // the code serves only sizes for which these hold
  bool operator==(const SizedCode&) const = default;
  /// Returns whether the code serves a run of these sizes. Requires: the code's key is KeyFor of
  /// the sizes, or exactly the sizes.
  bool Serves(const Sizes& sizes) const { return FindFailed(conditions, sizes) == nullptr; }
};

/// Checks that code with these inputs and outputs matches the form: tensors fit the form, and
/// parameters follow the other inputs. Errors: kParse with the
/// mismatch, and those of ByteSize.
Status CheckCode(const SizedForm& form, const SizedCode& code, std::span<const TensorSpec> inputs,
                 std::span<const TensorSpec> outputs);

/// The code of a model for one set of sizes. Thread-safe: all const members may be called from
/// several threads at once.
class SizedVariant {
 public:
  /// Makes a variant. Requires: CheckCode succeeded, or each run is of exactly this code. Requires
  /// also valid axes and extents (1 and 2 of CheckSizes in runtime/bundle/stored_sizes.h).
  SizedVariant(std::shared_ptr<const SizedForm> form, SizedCode code,
               std::shared_ptr<const Executable> executable);
  ~SizedVariant();

  const Executable& executable() const { return *executable_; }
  const SizedCode& code() const { return code_; }
  /// Runs parts of one run, each on a variant of the same form. Inputs and outputs are the caller's
  /// whole arrays, of sizes part.whole. No other memory of the caller is accessed, whatever the
  /// programs give. Fails with kParse if the extents do not fit the arrays. `options` are those of
  /// AnyShape::Run. Requires: each variant serves its part; no part writes data that another part
  /// reads; there is one part, or the executables of the variants can run as one batch.
  static Status Run(std::span<const std::shared_ptr<const SizedVariant>> variants,
                    std::span<const SizedPart> parts, std::span<const void* const> inputs,
                    std::span<void* const> outputs, const RunOptions& options = {});
  /// Frees the memory that finished runs have left for the next run.
  void FreeIdle() const;

 private:
  struct Buffers;
  struct PartRun;
  /// The part of a caller's array that a tensor of the code uses. The part is contiguous from
  /// `offset` on, unless there is a slice.
  struct Place {
    int64_t offset = 0;  // in bytes
    std::optional<SliceCopy> slice;
  };
  struct Places {
    std::vector<Place> inputs;
    std::vector<Place> outputs;
  };
  Result<Places> PlacesOf(const SizedPart& part) const;
  Place PlaceOfInput(const SizedPart& part, size_t i) const;
  Result<Place> PlaceOfOutput(const SizedPart& part, size_t o) const;

  /// Returns whether the parts are one run of exactly this code on the caller's whole arrays.
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
  std::vector<std::vector<int>> open_;  // per input and axis: its dimension, or -1
  std::shared_ptr<const Executable> executable_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Buffers>> free_;
};

}  // namespace tunec
