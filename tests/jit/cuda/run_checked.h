// Runs correct and faulty hand-written nests in the checked emulation.
#pragma once

#include <string>

#include "ir/loop_nest.h"

namespace tunec::jit_test {

/// The addresses of the arguments: multiples of 128 bytes, or one float after such an address.
enum class Placing { kAligned, kOneElementOff };

/// Runs all blocks of a nest with the arguments A and C, this many times. The nest is not verified.
void RunChecked(const LoopNest& nest, int times = 1, Placing placing = Placing::kAligned);
void RunChecked(const std::string& text, int times = 1);

/// Returns the text of a nest of one phase, with shared memory s: f32[1024].
std::string Nest(const std::string& body, const std::string& a = "f32[4]",
                 const std::string& blocks = "1");

}  // namespace tunec::jit_test
