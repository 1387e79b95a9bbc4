// A function that returns the text of a nest of row sums, in the form that schedules generate. Each
// row is divided among the threads of a block.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tunec::jit_test {

/// Returns the text of C[b] sum= A[b, t] for two warps. `barrier` is the text between the writes
/// and the reads of parts. `zero` is the literal 0 of `type`.
inline std::string ReducedNest(const std::string& type = "f32",
                               const std::string& barrier = "barrier",
                               const std::string& zero = "0.0") {
  std::string shuffles;
  for (const int distance : {16, 8, 4, 2, 1}) {
    shuffles += fmt::format(
        "block.x for t in 0 .. 64 {{\n shuffle other[t] = own[t] of t xor {}\n}}\n"
        "block.x for t in 0 .. 64 {{\n add: own[t] sum= other[t]\n}}\n",
        distance);
  }
  return fmt::format(R"(
nest reduced {{
  input A: {0}[3, 64]
  output C: {0}[3]
  local own: {0}[64]
  local other: {0}[64]
  local parts: {0}[2]
  phase main {{
    grid.x for b in 0 .. 3 {{
      first: C[b] = {3}
      alloc own: register {{
        alloc other: register {{
          block.x for t in 0 .. 64 {{
            take: own[t] = A[b, t]
          }}
          {1}
          alloc parts: shared {{
            block.x for t in 0 .. 64 {{
              if (32*floor(t/32) - t >= 0) {{
                put: parts[floor(t/32)] = own[t]
              }}
            }}
            {2}
            unrolled for p in 0 .. 2 {{
              end: C[b] sum= parts[p]
            }}
          }}
        }}
      }}
    }}
  }}
}}
)",
                     type, shuffles, barrier, zero);
}

}  // namespace tunec::jit_test
