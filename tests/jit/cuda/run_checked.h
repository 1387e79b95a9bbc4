// Runs hand-written nests in the checked emulation, right ones and wrong ones.
#pragma once

#include <string>

#include "ir/loop_nest.h"

namespace tunec::jit_test {

/// The alignment of the arguments' memory relative to their tensors' claims.
enum class Placing { kAligned, kOneElementOff };

/// Runs each block of the kernels `kernel(A, C)` this many times, without verification.
void RunChecked(const LoopNest& nest, int times = 1, Placing placing = Placing::kAligned);
void RunChecked(const std::string& text, int times = 1);

/// Returns one phase of a kernel with shared memory s: f32[1024].
std::string Nest(const std::string& body, const std::string& a = "f32[4]",
                 const std::string& blocks = "1");

}  // namespace tunec::jit_test
