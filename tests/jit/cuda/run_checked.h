// Functions for tests of hand-written nests, correct or faulty, in the checked emulation of a GPU.
#pragma once

#include <string>

#include "ir/loop_nest.h"

namespace tunec::jit_test {

/// The addresses of the arguments: multiples of 128 bytes, or one float after such an address.
enum class Placing { kAligned, kOneElementOff };

/// Runs all blocks of a nest with the arguments A and C, `times` times. The nest is not verified.
/// Before the first run, each argument is 1024 zeros. A fault ends the process with a message.
void RunChecked(const LoopNest& nest, int times = 1, Placing placing = Placing::kAligned);
void RunChecked(const std::string& text, int times = 1);

/// Returns the text of a nest of one phase, with shared memory s: f32[1024]. `a` is the type and
/// shape of the input A. `blocks` is the extent of the loop b over blocks. C is an f32[128] output.
std::string Nest(const std::string& body, const std::string& a = "f32[4]",
                 const std::string& blocks = "1");

}  // namespace tunec::jit_test
