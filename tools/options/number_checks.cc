#include "tools/options/number_checks.h"

#include <fmt/format.h>

#include <CLI/TypeTools.hpp>
#include <cmath>
#include <string>

namespace tunec {
namespace {

template <class Holds>
CLI::Validator FiniteNumber(const char* expected, Holds holds) {
  const auto check = [expected, holds](const std::string& text) -> std::string {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
    return number && holds(value) ? "" : fmt::format("{}, expected {}", text, expected);
  };
  return {check, "", ""};
}

}  // namespace

CLI::Validator Positive() {
  return FiniteNumber("a number above 0", [](double value) { return value > 0; });
}

CLI::Validator NotNegative() {
  return FiniteNumber("a number of at least 0", [](double value) { return value >= 0; });
}

}  // namespace tunec
