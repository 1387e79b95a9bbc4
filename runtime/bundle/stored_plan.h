// An ExecutablePlan as bytes. A kernel is a number in a table of kernels. The data of a constant is
// an offset in the weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/executable_plan.h"
#include "runtime/tensor_spec.h"
#include "support/error.h"

namespace tunec::bundle {

inline constexpr int64_t kNothing = -1;

/// A constant of a stored plan.
struct StoredConstant {
  std::string name;
  int64_t bytes = 0;
  int64_t offset = kNothing;  // offset in the weights; kNothing: a preprocessing step writes it
  bool operator==(const StoredConstant&) const = default;
};

/// A step of a stored plan: a kernel call or a copy.
struct StoredStep {
  std::string name;
  int64_t kernel = kNothing;  // number in the code's table; kNothing: a copy
  std::vector<ValueRef> arguments;
  int64_t copy_bytes = 0;
  bool operator==(const StoredStep&) const = default;
};

/// An ExecutablePlan as it is stored.
struct StoredPlan {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<StoredConstant> constants;
  std::vector<StoredStep> preprocessing;
  std::vector<StoredStep> steps;
  std::vector<IndexCheck> index_checks;
  int64_t arena_bytes = 0;
  int64_t threads = 1;
  bool operator==(const StoredPlan&) const = default;
};

std::string Serialize(const StoredPlan& plan);
/// Parses a plan. Fails with kParse if it is damaged. CheckPlan checks the meaning of the numbers.
Result<StoredPlan> ParsePlan(std::span<const std::byte> bytes);

}  // namespace tunec::bundle
