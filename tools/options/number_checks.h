// Checks of numbers on the command line. CLI11's own accept NaN, and name a range of 309 digits.
#pragma once

#include <CLI/Error.hpp>
#include <CLI/Validators.hpp>

namespace tunec {

/// A finite number above 0.
CLI::Validator Positive();
/// A finite number of at least 0.
CLI::Validator NotNegative();

}  // namespace tunec
