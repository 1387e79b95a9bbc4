// The plan of an executable: tensors, constants, and steps that name the buffers that each kernel
// reads and writes. The compiler or a bundle's loader fills it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/shared_constants.h"
#include "runtime/tensor_spec.h"
#include "support/error.h"

namespace tunec {

/// The address of a step's argument: `offset` bytes into the named buffer. Inputs and outputs are
/// the caller's buffers, aligned only to their element. The arena starts at a multiple of 64 bytes,
/// and a constant at a multiple of Constant::alignment.
struct ValueRef {
  enum class Kind : uint8_t { kInput, kOutput, kConstant, kArena };
  Kind kind = Kind::kArena;
  int32_t index = 0;   // number of the input, output or constant; 0 for the arena
  int64_t offset = 0;  // in bytes, for views and for offsets of a MemoryPlan

  static ValueRef Input(int32_t index, int64_t offset = 0) { return {Kind::kInput, index, offset}; }
  static ValueRef Output(int32_t index, int64_t offset = 0) {
    return {Kind::kOutput, index, offset};
  }
  static ValueRef Constant(int32_t index, int64_t offset = 0) {
    return {Kind::kConstant, index, offset};
  }
  static ValueRef Arena(int64_t offset) { return {Kind::kArena, 0, offset}; }
  bool operator==(const ValueRef&) const = default;
};

/// One kernel call, one copy, or nothing (no phases and no bytes). Steps run one after another.
struct Step {
  std::string name;                 // for profiles and messages
  Kernel kernel;                    // no phases for a copy; no functions for a device's kernel
  std::vector<ValueRef> arguments;  // in the order of the kernel's arguments; for a copy: from, to
  int64_t copy_bytes = 0;           // > 0: a copy, whose two ends must not overlap
  std::shared_ptr<const DeviceCode> code = nullptr;  // code of a kernel of the plan's device
  /// Pairs of positions in `arguments`: the kernel reads the first argument and writes the second.
  /// The result is the same if both use the same memory.
  std::vector<std::pair<int32_t, int32_t>> in_place = {};
  /// Text of a preprocessing step whose results may be shared: equal texts mean that the kernels do
  /// the same. A non-empty identity is a promise: if an argument has no data and no earlier step
  /// names it, the kernel writes the argument completely. Other arguments are only read.
  /// Empty: each executable runs the step.
  std::string identity = {};
};

/// Returns a step that copies, for example for an output that is an input or a constant, or for a
/// second output of one value.
Step MakeCopyStep(std::string name, ValueRef from, ValueRef to, int64_t bytes);

/// Bytes that are fixed when the executable is made.
struct Constant {
  std::string name;
  int64_t bytes = 0;
  /// Data of the constant, shared with its owner (for example, a mapped file). The data is copied
  /// once if it is not aligned as below. Null: a preprocessing step writes the constant, or no step
  /// uses the constant.
  std::shared_ptr<const void> data;
  int64_t alignment = 64;    // a power of two up to 64, on which readers rely
  std::string content = {};  // text that identifies the bytes of `data`; empty: not known
};

/// Integers that a gather uses as indices, expected in -extent..extent-1. Runs count the others
/// (Executable::Outside).
struct IndexCheck {
  std::string node;  // name of the gather, for messages
  int64_t extent = 0;
  ValueRef indices;  // not a constant; its arena memory is not reused in the run
  DataType type = DataType::kI64;
  int64_t count = 0;
  bool operator==(const IndexCheck&) const = default;
};

/// The plan from which Executable::Make makes an executable.
struct ExecutablePlan {
  /// The device that runs `steps`; null: the host. The device's memory holds the constants of the
  /// steps and the arena. After Executable::Make, only the executable uses the device. The device
  /// is the first member, so the code of steps is destroyed earlier.
  std::shared_ptr<Device> device;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<Constant> constants;
  /// Steps that the host runs when the executable is made, unless their results are shared. Their
  /// arguments are constants only. A constant without data is allocated (not cleared) before the
  /// first step that names it. A constant without a use in `steps` is freed after the last
  /// preprocessing step that names it. An example is packing of weights: {original, packed}, and
  /// `steps` name only the packed weight.
  std::vector<Step> preprocessing;
  std::vector<Step> steps;
  /// Indices that runs check at their end (Executable::Outside).
  std::vector<IndexCheck> index_checks;
  /// Bytes for intermediate values and for checked indices. Each concurrent run has one arena. Not
  /// cleared.
  int64_t arena_bytes = 0;
  int threads = 1;  // threads of the executable's own pool, if Make receives no pool
  /// Constants that executables of one model share, in the memory of the host or of the device;
  /// null: they are not shared.
  std::shared_ptr<SharedConstants> shared = nullptr;
  /// The reason why the kernels cannot be run. If it is set, not even the preprocessing is run,
  /// Run returns this error, and phases need no functions.
  std::optional<Error> rejection;
};

/// Checks the invariants listed in executable_plan.cc. Fails with kInvalidArgument and the
/// violation.
Status Verify(const ExecutablePlan& plan);

}  // namespace tunec
