// Tests of the second assembly of PTX whose code spills, with more registers for each thread, and
// of the choice of the better code. A fake assembler returns the results.
#include "jit/cuda/assemble_without_spills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tunec {
namespace {

using ::testing::ElementsAre;

const Ptxas kNone = {};

std::string Kernel(const std::string& symbol, const std::string& threads) {
  return ".visible .entry " + symbol + "(\n\t.param .u64 " + symbol + "_param_0\n)\n.reqntid " +
         threads + "\n{\n\tret;\n}\n";
}

// A fake assembler. `uses` has the uses that each call returns, and `asked` the PTX of each call.
struct Played {
  std::vector<std::vector<PtxasUse>> uses;
  std::vector<std::string> asked = {};

  std::string AssemblePtx(const std::string& ptx) {
    const auto cubin = AssembleWithoutSpills(
        kNone, ptx, "sm_80", [this](const Ptxas&, std::string_view text, std::string_view) {
          asked.emplace_back(text);
          return Result<Cubin>(Cubin{.bytes = std::to_string(asked.size()),
                                     .uses = uses.at(asked.size() - 1),
                                     .warnings = {}});
        });
    return cubin ? cubin->bytes : cubin.error().message;
  }
};

TEST(AssembleWithoutSpills, DoesNothingMoreWhereNothingSpills) {
  Played played{{{{.symbol = "a", .registers = 40}}}};
  EXPECT_EQ(played.AssemblePtx(Kernel("a", "224, 1, 1")), "1");
  EXPECT_EQ(played.asked.size(), 1u);
}

TEST(AssembleWithoutSpills, GivesWhoSpillsTheRegistersThatItCanHave) {
  const std::string ptx = Kernel("a", "224, 1, 1") + Kernel("b", "224, 1, 1");
  const PtxasUse whole = {.symbol = "b", .registers = 40};
  Played played{{{{.symbol = "a", .registers = 32, .spilled_bytes = 8}, whole},
                 {{.symbol = "a", .registers = 54}, whole}}};
  EXPECT_EQ(played.AssemblePtx(ptx), "2");
  EXPECT_THAT(played.asked, ElementsAre(ptx, Kernel("a", "224, 1, 1\n.minnctapersm 1") +
                                                 Kernel("b", "224, 1, 1")));
}

// 128 threads may have 255 registers each, and 32 x 32 threads 64 each.
TEST(AssembleWithoutSpills, LeavesAloneWhatHasAllRegisters) {
  Played all{{{{.symbol = "a", .registers = 255, .spilled_bytes = 8}}}};
  EXPECT_EQ(all.AssemblePtx(Kernel("a", "128, 1, 1")), "1");
  Played many{{{{.symbol = "a", .registers = 64, .spilled_bytes = 8}}}};
  EXPECT_EQ(many.AssemblePtx(Kernel("a", "32, 32, 1")), "1");
  EXPECT_EQ(many.asked.size(), 1u);
}

TEST(AssembleWithoutSpills, KeepsTheFirstWhereTheSecondIsNoBetter) {
  const std::vector<PtxasUse> spilling = {{.symbol = "a", .registers = 40, .spilled_bytes = 8}};
  Played played{{spilling, spilling}};
  EXPECT_EQ(played.AssemblePtx(Kernel("a", "256, 1, 1")), "1");
  EXPECT_EQ(played.asked.size(), 2u);
}

}  // namespace
}  // namespace tunec
