// The description of the target machine, with the properties that compilation depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace tunec {

/// The processor that runs the program. It computes everything that is not computed by a device.
struct Host {
  std::string cpu = "generic";     // LLVM's processor name
  std::set<std::string> features;  // relevant features that are on: kAmxEmulated, and names
                                   // in LLVM such as "avx512f", "fma", "amx-bf16"
  int vector_bits = 256;           // bits of the widest vectors that kernels should use
  int vector_registers = 16;
  int64_t l1_bytes = 32 << 10;  // data, per core
  int64_t l2_bytes = 1 << 20;   // per core
  int64_t l3_bytes = 16 << 20;  // shared
  int cores = 1;                // number of cores that this process may use
  int threads = 1;              // number of threads of a kernel on the host

  int Lanes(int element_bytes) const { return vector_bits / 8 / element_bytes; }
  bool Has(const std::string& feature) const { return features.contains(feature); }
  bool operator==(const Host&) const = default;
};

/// A device beside the host; the device runs kernels as blocks of threads.
struct Accelerator {
  std::string kind;                // name of its code generator and driver: "cuda"
  std::string name;                // its architecture, in one word: "sm_90a"
  std::set<std::string> features;  // with all implied features: "sm_80", "sm_90", "sm_90a"
  int processors = 1;              // number of processors that run blocks in parallel
  int64_t shared_bytes = 0;        // largest number of bytes of shared memory of one block
  std::string part = {};           // one word that names the part of the architecture: "h100";
                                   // empty: unknown

  // Properties for limits, and for the prediction and measurement of times; 0: unknown.
  int64_t registers = 0;               // 32-bit registers of one processor
  int64_t processor_shared_bytes = 0;  // bytes of shared memory of one processor
  int64_t resident_threads = 0;        // largest number of threads that one processor holds
  int64_t resident_blocks = 0;
  int64_t multiply_adds = 0;  // float32 multiply-adds that one processor starts per clock
  int64_t matrix_f16 = 0;     // multiply-adds per clock by matrix instructions on f16, bf16
  int64_t matrix_tf32 = 0;    // multiply-adds per clock on float32 rounded to TF32
  int64_t matrix_i8 = 0;
  int64_t l2_bytes = 0;          // shared by all processors
  int64_t bytes_per_second = 0;  // bandwidth of the device's memory
  int64_t clock_hertz = 0;       // highest clock
  bool operator==(const Accelerator&) const = default;
};

/// The machine of a program. Kernels run on the device if there is one, else on the host. Weight
/// preprocessing always runs on the host.
struct Target {
  Host host;
  std::optional<Accelerator> device = {};

  /// Returns "cpu", or the device's kind.
  const std::string& Kind() const;
  /// Returns whether kernels may use the feature.
  bool Has(const std::string& feature) const {
    return device ? device->features.contains(feature) : host.Has(feature);
  }
  bool operator==(const Target&) const = default;
};

/// Returns one line with all properties of the device, or of the host if there is no device. The
/// line is part of the database's keys, so its form must not change.
std::string Print(const Target& target);

}  // namespace tunec
