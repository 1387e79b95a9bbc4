// A function to compare the outputs of a nest with the outputs of its Compute.
#pragma once

#include "ir/compute.h"
#include "ir/loop_nest.h"

namespace tunec::test {

/// Returns whether the interpreter gives the same outputs for the nest as for the Compute.
bool Agrees(const Compute& compute, const LoopNest& nest);

}  // namespace tunec::test
