// Tests of cache sizes read from processors' answers to CPUID.
#include "jit/cpu/cache_sizes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "jit/cpu/detect_cpu.h"

namespace tunec {

void PrintTo(const CacheSizes& sizes, std::ostream* out) {
  *out << sizes.l1 << ", " << sizes.l2 << ", " << sizes.l3;
}

namespace {

using Leaves = std::map<std::pair<uint32_t, uint32_t>, CpuidLeaf>;

CacheSizes SizesOf(const Leaves& leaves) {
  return CacheSizesFrom([&](uint32_t leaf, uint32_t subleaf) {
    const auto found = leaves.find({leaf, subleaf});
    return found == leaves.end() ? CpuidLeaf{} : found->second;
  });
}

constexpr CpuidLeaf kAmd{0x10, 0x68747541, 0x444d4163, 0x69746e65};
constexpr CpuidLeaf kIntel{0x20, 0x756e6547, 0x6c65746e, 0x49656e69};

// The answers of an AMD EPYC 7003 to CPUID. 0x8000001d is the list of caches, and 0x80000005 and
// 0x80000006 are older leaves with cache sizes.
const Leaves kZen3 = {{{0, 0}, kAmd},
                      {{0x80000001, 0}, {0xa00f11, 0x40000000, 0x4003f3, 0x2fd3fbff}},
                      {{0x80000005, 0}, {0xff40ff40, 0xff40ff40, 0x20080140, 0x20080140}},
                      {{0x80000006, 0}, {0x48002200, 0x68004200, 0x2006140, 0x8009140}},
                      {{0x8000001d, 0}, {0x121, 0x1c0003f, 0x3f, 0}},
                      {{0x8000001d, 1}, {0x122, 0x1c0003f, 0x3f, 0}},
                      {{0x8000001d, 2}, {0x143, 0x1c0003f, 0x3ff, 2}},
                      {{0x8000001d, 3}, {0x4163, 0x3c0003f, 0x7fff, 1}}};

TEST(CacheSizes, OfAmdComeFromItsList) {
  EXPECT_EQ(SizesOf(kZen3), (CacheSizes{32 << 10, 512 << 10, 32 << 20}));
}

// Virtual machines may hide the list and clear its feature bit. Leaf 0x80000006 has the total size
// of all last-level caches.
TEST(CacheSizes, OfAmdWithoutTheListComeFromOlderLeaves) {
  Leaves leaves = kZen3;
  leaves[{0x80000001, 0}].ecx &= ~(uint32_t{1} << 22);
  for (uint32_t i = 0; i < 4; ++i) leaves.erase({0x8000001d, i});
  EXPECT_EQ(SizesOf(leaves), (CacheSizes{32 << 10, 512 << 10, 256 << 20}));
}

// The caches of data have 12 ways of 64 sets, 16 of 2048, and 15 of 114688, with lines of 64 bytes.
TEST(CacheSizes, OfIntelComeFromLeaf4) {
  const Leaves leaves = {{{0, 0}, kIntel},
                         {{4, 0}, {0xfc004121, 0x02c0003f, 0x3f, 0}},
                         {{4, 1}, {0xfc004122, 0x01c0003f, 0x3f, 0}},
                         {{4, 2}, {0xfc01c143, 0x03c0003f, 0x7ff, 0}},
                         {{4, 3}, {0xfc1fc163, 0x0380003f, 0x1bfff, 4}}};
  EXPECT_EQ(SizesOf(leaves), (CacheSizes{48 << 10, 2 << 20, 105 << 20}));
}

TEST(CacheSizes, OfASilentProcessorAreNone) {
  EXPECT_EQ(SizesOf({}), CacheSizes{});
  EXPECT_EQ(SizesOf({{{0, 0}, kAmd}}), CacheSizes{});
  EXPECT_EQ(SizesOf({{{0, 0}, kIntel}}), CacheSizes{});
}

// Linux reads the same leaves. The sizes are part of the keys of the tuning database.
TEST(CacheSizes, HereAreThoseOfTheKernel) {
  CacheSizes listed;
  for (int index = 0; index < 8; ++index) {
    const std::filesystem::path folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    int level = 0;
    std::string type;
    int64_t kilobytes = 0;
    std::ifstream(folder / "level") >> level;
    std::ifstream(folder / "type") >> type;
    std::ifstream(folder / "size") >> kilobytes;
    if (type == "Instruction") continue;
    if (level == 1) listed.l1 = kilobytes << 10;
    if (level == 2) listed.l2 = kilobytes << 10;
    if (level == 3) listed.l3 = kilobytes << 10;
  }
  if (listed == CacheSizes{}) GTEST_SKIP() << "no /sys";
  EXPECT_EQ(CacheSizesHere(), listed);
  EXPECT_EQ(DetectCpu(1).host.l1_bytes, listed.l1);
}

}  // namespace
}  // namespace tunec
