// What both fuzzers' command lines say.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/fuzz/in_child.h"

namespace tunec::fuzz {

constexpr unsigned kSecondsPerCase = 60;

struct FuzzOptions {
  uint64_t cases = 0;  // 0: until the time is up
  uint64_t seed = 1;
  std::optional<uint64_t> code;
  double seconds = 0;  // 0: no limit
  unsigned jobs = 1;

  Batches InBatchesOf(uint64_t per_child) const {
    return {.cases = cases,
            .seconds = seconds,
            .per_child = per_child,
            .jobs = jobs,
            .seconds_per_case = kSecondsPerCase};
  }
};

/// `cases`: what they are called; `share`: how many go through machine code without --code.
void AddFuzzOptions(CLI::App& app, FuzzOptions& options, const std::string& cases,
                    const std::string& share);

/// Neither a number nor a time: ten seconds.
void SetLimit(FuzzOptions& options);

}  // namespace tunec::fuzz
