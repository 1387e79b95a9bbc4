// Functions that return validators of numbers in options. CLI11's validators accept NaN, and their
// errors have 309 digits.
#pragma once

#include <CLI/Error.hpp>
#include <CLI/Validators.hpp>

namespace tunec {

/// Returns a validator that accepts finite numbers above 0.
CLI::Validator Positive();
/// Returns a validator that accepts finite numbers of at least 0.
CLI::Validator NotNegative();

}  // namespace tunec
