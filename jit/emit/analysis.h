// What the emitter decides before it writes code: how wide each vector loop is and whether its
// chunks are unrolled, which register tensors become SSA slots, and every access's linear
// storage offset in its simplest form.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/loop_nest.h"
#include "jit/emit/machine.h"

namespace tunec::jit {

/// How a vector loop is cut into chunks of `lanes` iterations.
struct VectorPlan {
  int lanes = 1;
  int64_t most_iterations = 0;  // over all executions
  bool unrolled = false;        // all chunks one after the other, else a loop over chunks
};

enum class RegisterForm : uint8_t {
  kNone,   // not of register scope
  kSlots,  // SSA values: one vector per (leading indices, chunk of the last dimension)
  kStack,  // an index is not constant after unrolling: memory on the stack
};

struct RegisterPlan {
  RegisterForm form = RegisterForm::kNone;
  int slot_lanes = 1;
};

struct NestAnalysis {
  std::map<const Loop*, VectorPlan> vector_loops;
  std::map<const Loop*, bool> fully_unrolled;
  IdVector<TensorId, RegisterPlan> registers;
  /// Of a register tensor within its Alloc: elements of the last dimension from the first to the
  /// last that any access may touch. Beyond them vectors may hold anything.
  std::map<const Alloc*, int64_t> touched;
  std::map<const void*, IndexExpr> offsets;  // by address of the Read or Write
};

NestAnalysis Analyze(const LoopNest& nest, const Machine& machine);

/// Bytes of a lane of values of this type while it is computed with (f16 and bf16 are f32).
int ComputeBytes(DataType type);

}  // namespace tunec::jit
