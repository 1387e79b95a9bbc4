// Converts names of sketches in notes of trials before schema 5 and export version 3.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns the note with the new name of its sketch. Sketches of register tiles were numbered by
/// their position among all sketches of a task (`sketch=direct/tile2`). Now the name has the
/// iterator of the columns, and `wide` if operands are cast beforehand
/// (`sketch=direct/tile/j/wide`). Both follow from the trial's schedule: the columns' loop is the
/// first that it splits. Other notes are unchanged.
std::string WithNamedSketch(std::string_view note, std::string_view schedule);

}  // namespace tunec
