// How the copies that a schedule makes are made.
#pragma once

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

/// Begins the loop steps of a schedule for `compute` with a `storage_order` for each copy that its
/// compute steps make of an argument, in their order: what `pack` makes, and what `widen` makes of
/// a constant. What `widen` makes of an input has loops that the sketch shapes with the others.
/// A copy that is made while running and turns its argument reads the argument in blocks. Such
/// steps that the schedule already has are replaced.
void OrderCopies(const Compute& compute, Schedule& schedule);

}  // namespace tunec
