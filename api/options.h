// The options of tunec_compile: a JSON object to typed values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/accuracy.h"
#include "compiler/compiler.h"
#include "compiler/open_database.h"
#include "support/error.h"

namespace tunec {

/// More threads than this are taken for a mistake.
inline constexpr int kMostThreads = 1024;

struct ApiOptions {
  int threads = 0;  // 0: one for each core
  int trials = 0;
  double time_limit_seconds = 0;    // 0: none
  std::vector<std::string> retune;  // groups, or "all"
  bool verbose = false;
  Accuracy accuracy;
  std::string cpu = "native";
  DatabaseChoice database;
  uint64_t seed = 0;
  std::vector<std::string> rules;  // files
  bool fast_math = false;
  ModelOptions model;
};

/// Reads the object that tunec.h describes; empty text is no options. Errors (kInvalidArgument,
/// kParse for malformed JSON) name the key, its value and what was wanted.
Result<ApiOptions> ParseApiOptions(std::string_view json);

}  // namespace tunec
