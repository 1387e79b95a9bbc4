// A random generator, which is never global. The same seed gives the same numbers on every machine,
// and Python can repeat the numbers (docs/reference/text_formats.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace tunec {

/// The SplitMix64 generator (Steele, Lea, Flood 2014). The state advances by a constant, and each
/// output is a mix of the state. Element i of a stream can be computed without the elements before.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  /// Returns the next 64 random bits.
  uint64_t Next() {
    state_ += kGamma;
    return Mix(state_);
  }
  /// Returns an almost uniform number in [0, bound). Requires: bound > 0.
  uint64_t Below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }
  /// Returns a uniform number in [0, 1), a multiple of 2^-24.
  float Unit() { return static_cast<float>(Next() >> 40) * 0x1p-24f; }

  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  static constexpr uint64_t kGamma = 0x9e3779b97f4a7c15ULL;
  uint64_t state_;
};

/// Returns a seed for the stream `name` under `seed`: the FNV-1a hash of the name, mixed with the
/// seed.
inline uint64_t StreamSeed(uint64_t seed, std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return Random::Mix(hash ^ Random::Mix(seed));
}

}  // namespace tunec
