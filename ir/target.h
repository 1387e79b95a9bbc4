// What a compilation needs to know of the machine that will run the code.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace tunec {

/// The processor that runs the program. It computes everything that no device does.
struct Host {
  std::string cpu = "generic";  // LLVM's processor name
  std::set<std::string>
      features;  // LLVM's feature names that are on and matter: "avx512f", "fma", "amx-bf16", ...
  int vector_bits = 256;  // widest vectors worth using
  int vector_registers = 16;
  int64_t l1_bytes = 32 << 10;  // data, per core
  int64_t l2_bytes = 1 << 20;   // per core
  int64_t l3_bytes = 16 << 20;  // shared
  int cores = 1;                // that this process may use
  int threads = 1;              // that a kernel of the host runs on

  int Lanes(int element_bytes) const { return vector_bits / 8 / element_bytes; }
  bool Has(const std::string& feature) const { return features.contains(feature); }
  bool operator==(const Host&) const = default;
};

/// A processor beside the host that runs kernels as blocks of threads.
struct Accelerator {
  std::string kind;                // whose code generator and driver are meant: "cuda"
  std::string name;                // its architecture, in one word: "sm_90a"
  std::set<std::string> features;  // with all that they imply: "sm_80", "sm_90", "sm_90a"
  int processors = 1;              // that run blocks side by side
  int64_t shared_bytes = 0;        // that one block may use at most
  std::string part = {};           // of its architecture, in one word: "h100"; empty: not known

  // What times are predicted from; 0: not known.
  int64_t registers = 0;               // of 32 bits, of one processor
  int64_t processor_shared_bytes = 0;  // of all blocks of one processor
  int64_t resident_threads = 0;        // of one processor at most
  int64_t resident_blocks = 0;
  int64_t multiply_adds = 0;  // of float32, that one processor starts in a clock
  int64_t matrix_f16 = 0;     // the same of matrix instructions: of f16 and bf16
  int64_t matrix_tf32 = 0;    // of float32 rounded to TF32
  int64_t matrix_i8 = 0;
  int64_t l2_bytes = 0;          // shared by all processors
  int64_t bytes_per_second = 0;  // from its memory and to it
  int64_t clock_hertz = 0;       // at most
  bool operator==(const Accelerator&) const = default;
};

/// What kernels are compiled for: the device where there is one, else the host.
struct Target {
  Host host;
  std::optional<Accelerator> device = {};

  /// "cpu", or the device's kind.
  const std::string& Kind() const;
  /// Whether kernels may use it.
  bool Has(const std::string& feature) const {
    return device ? device->features.contains(feature) : host.Has(feature);
  }
  bool operator==(const Target&) const = default;
};

/// One line, complete and stable: part of the database's keys. Of a device, nothing of the host.
std::string Print(const Target& target);

}  // namespace tunec
