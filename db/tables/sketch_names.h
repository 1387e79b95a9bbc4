// The conversion of sketch names in notes of trials before schema 5 and export version 3.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns the note with the new name of its sketch. In earlier versions, sketches of register
/// tiles were numbered by their position among all sketches of a task (`sketch=direct/tile2`). The
/// new name has the iterator of the columns, and `wide` if operands are cast beforehand
/// (`sketch=direct/tile/j/wide`). Both follow from the trial's schedule: its first `split` names
/// the columns' loop, and a `widen` step casts operands. Other notes, and notes of
/// schedules without a `split`, are unchanged.
std::string WithNamedSketch(std::string_view note, std::string_view schedule);

}  // namespace tunec
