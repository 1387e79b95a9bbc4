// The command-line options that the fuzzers share.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/fuzz/in_child.h"

namespace tunec::fuzz {

constexpr unsigned kSecondsPerCase = 60;

struct FuzzOptions {
  uint64_t cases = 0;  // 0: until the time limit
  uint64_t seed = 1;
  std::optional<uint64_t> code;
  double seconds = 0;  // 0: unlimited
  unsigned jobs = 1;

  Batches InBatchesOf(uint64_t per_child) const {
    return {.cases = cases,
            .seconds = seconds,
            .per_child = per_child,
            .jobs = jobs,
            .seconds_per_case = kSecondsPerCase};
  }
};

/// Adds the options. `cases` is the name of one case, for example "graph". The help text of --code
/// names `share` as the default, for example "20th".
void AddFuzzOptions(CLI::App& app, FuzzOptions& options, const std::string& cases,
                    const std::string& share);

/// Sets a time limit of ten seconds if neither the number of cases nor the time is limited.
void SetLimit(FuzzOptions& options);

}  // namespace tunec::fuzz
