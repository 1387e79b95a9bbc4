// Checks numbers on the command line. CLI11's own checks accept NaN, and print a range with 309
// digits.
#pragma once

#include <CLI/Error.hpp>
#include <CLI/Validators.hpp>

namespace tunec {

/// Accepts finite numbers above 0.
CLI::Validator Positive();
/// Accepts finite numbers of at least 0.
CLI::Validator NotNegative();

}  // namespace tunec
