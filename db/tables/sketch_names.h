// How notes of trials named a sketch before schema 5 and export version 3, and how they do since.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// The sketches of register tiles were numbered by their place among all sketches of a task
/// (`sketch=direct/tile2`); since then they are named after the iterator of the columns, and `wide`
/// where operands are cast beforehand (`sketch=direct/tile/j/wide`). Both stand in the trial's
/// schedule: the columns' loop is the first that it splits. Other notes are returned as they are.
std::string WithNamedSketch(std::string_view note, std::string_view schedule);

}  // namespace tunec
