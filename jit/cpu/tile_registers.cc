#include "jit/cpu/tile_registers.h"

#include <array>

#include "ir/emulated_amx.h"
#include "jit/cpu/emulated_tiles.h"
#include "jit/cpu/x86_instructions.h"

namespace tunec::jit {
namespace {

class MachineTiles : public TileRegisters {
 public:
  void Begin(Builder& builder) override {
    constexpr int kBytes = 64, kTiles = 8, kBytesOfRow = 16, kRows = 48;
    std::array<int64_t, kBytes> configuration{};
    configuration[0] = 1;  // palette
    for (int tile = 0; tile < kTiles; ++tile) {
      configuration[kBytesOfRow + 2 * tile] = 64;
      configuration[kRows + tile] = 16;
    }
    X86TileConfigure(builder, builder.SafeConstant(builder.IntVector(Element::kI8, configuration)));
  }
  void End(Builder& builder) override { X86TileRelease(builder); }
  void Load(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) override {
    X86TileLoad(builder, tile, pointer, row_bytes);
  }
  void Store(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) override {
    X86TileStore(builder, tile, pointer, row_bytes);
  }
  void Dot(Builder& builder, TileDot dot, int c, int left, int right) override {
    switch (dot) {
      case TileDot::kBFloat16:
        return X86TileDotBFloat16(builder, c, left, right);
      case TileDot::kUnsignedSigned:
        return X86TileDotUnsignedSigned(builder, c, left, right);
    }
  }
};

}  // namespace

std::unique_ptr<TileRegisters> MakeTileRegisters(const Target& target) {
  if (target.Has(kAmxEmulated)) return MakeEmulatedTiles();
  return std::make_unique<MachineTiles>();
}

}  // namespace tunec::jit
