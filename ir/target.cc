#include "ir/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunec {
namespace {

std::string Print(const Host& host) {
  return fmt::format(
      "cpu {} [{}] vector_bits={} vector_registers={} l1={} l2={} l3={} cores={} threads={}",
      host.cpu, fmt::join(host.features, ","), host.vector_bits, host.vector_registers,
      host.l1_bytes, host.l2_bytes, host.l3_bytes, host.cores, host.threads);
}

std::string Print(const Accelerator& device) {
  return fmt::format(
      "{} {} [{}] processors={} shared={} part={} registers={} processor_shared={} threads={} "
      "blocks={} multiply_adds={} matrix={},{},{} l2={} bandwidth={} clock={}",
      device.kind, device.name, fmt::join(device.features, ","), device.processors,
      device.shared_bytes, device.part.empty() ? "-" : device.part, device.registers,
      device.processor_shared_bytes, device.resident_threads, device.resident_blocks,
      device.multiply_adds, device.matrix_f16, device.matrix_tf32, device.matrix_i8,
      device.l2_bytes, device.bytes_per_second, device.clock_hertz);
}

}  // namespace

const std::string& Target::Kind() const {
  static const std::string cpu = "cpu";
  return device ? device->kind : cpu;
}

std::string Print(const Target& target) {
  return target.device ? Print(*target.device) : Print(target.host);
}

}  // namespace tunec
