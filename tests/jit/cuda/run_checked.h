// Functions that run correct and faulty hand-written nests in the checked emulation of a GPU.
#pragma once

#include <string>

#include "ir/loop_nest.h"

namespace tunec::jit_test {

/// The addresses of the arguments: multiples of 128 bytes, or one float after such an address.
enum class Placing { kAligned, kOneElementOff };

/// Runs all blocks of a nest with the arguments A and C, this many times. The nest is not verified.
/// The arguments have 1024 zeros of f32 each. A fault ends the process with a message.
void RunChecked(const LoopNest& nest, int times = 1, Placing placing = Placing::kAligned);
void RunChecked(const std::string& text, int times = 1);

/// Returns the text of a nest of one phase, with shared memory s: f32[1024]. `a` is the type of the
/// input A, and `blocks` the number of blocks b. The output C is f32[128].
std::string Nest(const std::string& body, const std::string& a = "f32[4]",
                 const std::string& blocks = "1");

}  // namespace tunec::jit_test
