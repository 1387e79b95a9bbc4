// A program that is ready to run: loaded kernels, constants, and the plan of which kernel
// reads and writes where. The compiler (or a bundle's loader) fills an ExecutablePlan;
// Executable checks it, runs the prologue once and then serves any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/tensor_spec.h"
#include "runtime/thread_pool.h"
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
  Kernel kernel;                    // empty (no phases) for a copy
  std::vector<ValueRef> arguments;  // in the order of the kernel's arguments; a copy: from, to
  int64_t copy_bytes = 0;           // > 0: a copy. Both ends must not overlap.
};

/// A step that copies: an output that is an input or a constant, or a second output of one value.
Step CopyStep(std::string name, ValueRef from, ValueRef to, int64_t bytes);

/// Bytes fixed when the executable is made.
struct Constant {
  std::string name;
  int64_t bytes = 0;
  /// Shared with whoever owns it (a mapped file); null: a prologue step writes it. Not aligned as
  /// wanted below, it is copied once.
  std::shared_ptr<const void> data;
  int64_t alignment = 64;  // a power of two; what the kernels that read it rely on
};

struct ExecutablePlan {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<Constant> constants;
  /// Run once, when the executable is made; arguments are constants only. A constant without data
  /// is allocated (not cleared) before the first step that names it; a constant that no step
  /// of `steps` names is dropped after the last prologue step that does. Packing weights:
  /// {original, packed}, and `steps` name the packed one only.
  std::vector<Step> prologue;
  std::vector<Step> steps;
  /// Intermediate values, one arena per concurrent Run, planned by PlanMemory. Not cleared.
  int64_t arena_bytes = 0;
  int threads = 1;  // of the executable's own pool, when Make is not handed one
};

/// Bytes that an executable holds.
struct MemoryUse {
  int64_t constants = 0;    // shared by all runs
  int64_t per_context = 0;  // arena, workspace and scratch; one for each concurrent Run so far
  int64_t contexts = 0;
};

/// Immutable once made. All const members may be called from several threads at once; a moved-from
/// object may only be destroyed or assigned to. The destructor requires that no call is running.
class Executable {
 public:
  /// Checks the plan (kInvalidArgument names the step), runs the prologue, makes one
  /// context. kResourceLimit without memory. `pool` may be shared by executables; without one
  /// a pool of plan.threads is made.
  static Result<Executable> Make(ExecutablePlan plan, std::shared_ptr<ThreadPool> pool = nullptr);

  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  const std::vector<TensorSpec>& Inputs() const;
  const std::vector<TensorSpec>& Outputs() const;
  /// Names of the steps, in order.
  const std::vector<std::string>& StepNames() const;
  int Threads() const;
  MemoryUse Memory() const;

  /// Reads the inputs, writes the outputs: one dense buffer for each of Inputs() and Outputs(),
  /// aligned to the element; a buffer of no bytes may be null. An input may overlap outputs (it is
  /// copied first); two outputs may not overlap. Allocates only where more calls run at once than
  /// ever before, or an input overlaps an output for the first time.
  /// kInvalidArgument: a wrong number of buffers, a null or misaligned one; nothing was written.
  Status Run(std::span<const void* const> inputs, std::span<void* const> outputs) const;

  /// Run, and the seconds that each step took (allocates).
  Result<std::vector<double>> ProfileRun(std::span<const void* const> inputs,
                                         std::span<void* const> outputs) const;

 private:
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
