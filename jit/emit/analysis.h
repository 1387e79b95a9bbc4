// The analysis of a nest before the code is emitted. It chooses the width of each vector loop and
// the unrolling of chunks. It also chooses the register tensors that become SSA slots, and
// simplifies the storage offset of each access.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/loop_nest.h"
#include "jit/emit/machine.h"

namespace tunec::jit {

/// A division of a vector loop into chunks of `lanes` iterations.
struct VectorPlan {
  int lanes = 1;
  int64_t most_iterations = 0;  // maximum over all executions
  bool unrolled = false;        // true: a copy of the code per chunk; false: a loop over chunks
};

enum class RegisterForm : uint8_t {
  kNone,   // not of register scope
  kSlots,  // SSA values: one vector per (leading indices, chunk of the last dimension)
  kStack,  // stack memory: an index is not constant after unrolling, or there are too many slots
};

struct RegisterPlan {
  RegisterForm form = RegisterForm::kNone;
  int slot_lanes = 1;
};

struct NestAnalysis {
  std::map<const Loop*, VectorPlan> vector_loops;
  std::map<const Loop*, bool> fully_unrolled;
  IdVector<TensorId, RegisterPlan> registers;
  /// A number n for each Alloc of a register tensor in slots: accesses touch only the first n
  /// elements of the last dimension. Vectors may hold undefined values in later elements.
  std::map<const Alloc*, int64_t> touched;
  std::map<const void*, IndexExpr> offsets;  // keyed by the address of the Read or Write
};

NestAnalysis Analyze(const LoopNest& nest, const Machine& machine);

/// Returns the number of bytes of a value in computations: 4 for f16 and bf16, which are computed
/// as f32.
int ComputeBytes(DataType type);

}  // namespace tunec::jit
