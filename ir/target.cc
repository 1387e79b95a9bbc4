#include "ir/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunec {

std::string Print(const Target& target) {
  return fmt::format(
      "{} {} [{}] vector_bits={} vector_registers={} l1={} l2={} l3={} cores={} threads={}",
      target.kind, target.cpu, fmt::join(target.features, ","), target.vector_bits,
      target.vector_registers, target.l1_bytes, target.l2_bytes, target.l3_bytes, target.cores,
      target.threads);
}

}  // namespace tunec
