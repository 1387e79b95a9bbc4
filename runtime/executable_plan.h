// What an executable is made from: tensors, constants, and which kernel reads and writes
// where. The compiler or a bundle's loader fills it.
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

/// Where an argument of a step lies: `offset` bytes into the named thing. Inputs and outputs
/// are the caller's buffers, aligned to their element only. Constants and the arena start
/// at multiples of 64 (see Constant::alignment), so the offset decides.
struct ValueRef {
  enum class Kind : uint8_t { kInput, kOutput, kConstant, kArena };
  Kind kind = Kind::kArena;
  int32_t index = 0;   // which input, output or constant; 0 for the arena
  int64_t offset = 0;  // bytes; views and the arena's offsets of a MemoryPlan

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

/// One kernel call, or one copy. Steps run in order, each finished before the next begins.
struct Step {
  std::string name;                 // for profiles and messages
  Kernel kernel;                    // empty (no phases) for a copy; a device's: without functions
  std::vector<ValueRef> arguments;  // in the order of the kernel's arguments; a copy: from, to
  int64_t copy_bytes = 0;           // > 0: a copy. Both ends must not overlap.
  std::shared_ptr<const DeviceCode> code = nullptr;  // of a kernel of the plan's device
  /// Of a kernel: arguments, by their positions, of which it reads the first, writes the second,
  /// and computes the same where both are one storage.
  std::vector<std::pair<int32_t, int32_t>> in_place = {};
  /// Of a prologue step whose results may be shared: a hash of all that its kernel does. Who gives
  /// it says that the kernel writes the constants without data that no step before it names, whole,
  /// and reads its other arguments only. Empty: the step is run by each executable.
  std::string identity = {};
};

/// A step that copies: an output that is an input or a constant, or a second output of one value.
Step MakeCopyStep(std::string name, ValueRef from, ValueRef to, int64_t bytes);

/// Bytes fixed when the executable is made.
struct Constant {
  std::string name;
  int64_t bytes = 0;
  /// Only read. Shared with whoever owns it (a mapped file); copied once if it is not aligned as
  /// wanted below. Null: a prologue step writes it.
  std::shared_ptr<const void> data;
  int64_t alignment = 64;    // a power of two up to 64; what its readers rely on
  std::string content = {};  // of `data`, its StableHash where that is known
};

/// Integers that should lie in -extent..extent-1, because a gather looks elements up with them.
struct IndexCheck {
  std::string node;  // the gather, for messages
  int64_t extent = 0;
  ValueRef indices;  // not a constant; in the arena, nothing else has their place until the end
  DataType type = DataType::kI64;
  int64_t count = 0;
  bool operator==(const IndexCheck&) const = default;
};

struct ExecutablePlan {
  /// What runs `steps`; null: the host. Its memory has the constants that they name and the arena.
  /// It is left to the executable alone. The first member: the code of steps goes before it.
  std::shared_ptr<Device> device;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<Constant> constants;
  /// Run once by the host, when the executable is made; arguments are constants only. A constant
  /// without data is allocated (not cleared) before the first step that names it; a constant that
  /// no step of `steps` names is dropped after the last prologue step that does. Packing weights:
  /// {original, packed}, and `steps` name the packed one only.
  std::vector<Step> prologue;
  std::vector<Step> steps;
  /// Counted at the end of each run.
  std::vector<IndexCheck> index_checks;
  /// Intermediate values, one arena per concurrent Run, planned by PlanMemory. Not cleared.
  int64_t arena_bytes = 0;
  int threads = 1;  // of the executable's own pool, when Make is not handed one
  /// Where executables of one model find the constants that others hold, in the memory of the host
  /// or of the device; null: it has its own.
  std::shared_ptr<SharedConstants> shared = nullptr;
  /// Why this machine cannot run the kernels: then nothing is run, not even the prologue, Run
  /// returns this, and phases need no functions.
  std::optional<Error> refusal;
};

/// Checks the invariants listed in executable_plan.cc; kInvalidArgument names what breaks one.
Status Verify(const ExecutablePlan& plan);

}  // namespace tunec
