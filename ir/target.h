// What a compilation needs to know of the machine that will run the code.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace tunec {

struct Target {
  std::string kind = "cpu";
  std::string cpu = "generic";  // LLVM's processor name
  std::set<std::string>
      features;  // LLVM's feature names that are on and matter: "avx512f", "fma", "amx-bf16", ...
  int vector_bits = 256;  // widest vectors worth using
  int vector_registers = 16;
  int64_t l1_bytes = 32 << 10;  // data, per core
  int64_t l2_bytes = 1 << 20;   // per core
  int64_t l3_bytes = 16 << 20;  // shared
  int cores = 1;                // that this process may use
  int threads = 1;              // that the kernel will run on

  int Lanes(int element_bytes) const { return vector_bits / 8 / element_bytes; }
  bool Has(const std::string& feature) const { return features.contains(feature); }
  bool operator==(const Target&) const = default;
};

/// One line, complete and stable: part of the database's keys.
std::string Print(const Target& target);

}  // namespace tunec
