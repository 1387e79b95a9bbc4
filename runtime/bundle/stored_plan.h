// An ExecutablePlan as bytes: its kernels are numbers in the table of the code, its constants
// places in the weights.
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

struct StoredConstant {
  std::string name;
  int64_t bytes = 0;
  int64_t place = kNothing;  // in the weights; nothing: a prologue step writes it
  bool operator==(const StoredConstant&) const = default;
};

struct StoredStep {
  std::string name;
  int64_t kernel = kNothing;  // in the table of the code; nothing: a copy
  std::vector<ValueRef> arguments;
  int64_t copy_bytes = 0;
  bool operator==(const StoredStep&) const = default;
};

struct StoredPlan {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<StoredConstant> constants;
  std::vector<StoredStep> prologue;
  std::vector<StoredStep> steps;
  std::vector<IndexCheck> index_checks;
  int64_t arena_bytes = 0;
  int64_t threads = 1;
  bool operator==(const StoredPlan&) const = default;
};

std::string Serialize(const StoredPlan& plan);
/// The inverse. kParse when it is damaged. Says nothing of what the numbers mean: CheckPlan does.
Result<StoredPlan> ParsePlan(std::span<const std::byte> bytes);

}  // namespace tunec::bundle
