// A function to compare the outputs of a nest with the outputs of its Compute.
#pragma once

#include "ir/compute.h"
#include "ir/loop_nest.h"

namespace tunec::test {

/// Returns whether the interpreter's outputs for the nest and the Compute differ by at most 1e-9.
/// The inputs are random whole numbers. Returns false if the interpreter rejects the nest.
bool Agrees(const Compute& compute, const LoopNest& nest);

}  // namespace tunec::test
