// The eight tile registers of AMX: the machine's registers, or emulated registers in memory.
#pragma once

#include <cstdint>
#include <memory>

#include "ir/target.h"
#include "jit/builder/builder.h"

namespace tunec::jit {

/// Element types of a product of tiles.
enum class TileDot : uint8_t {
  kBFloat16,        // pairs of bf16, accumulated in f32
  kUnsignedSigned,  // groups of four u8 times i8, accumulated in i32
};

/// The registers 0 to 7, each of 16 rows of 64 bytes. An object emits code for functions one after
/// another.
class TileRegisters {
 public:
  virtual ~TileRegisters() = default;

  /// Configures the registers. Requires: called before all other calls for a function.
  virtual void Begin(Builder& builder) = 0;
  /// Releases the registers at the end of their use in the function.
  virtual void End(Builder& builder) = 0;
  virtual void Load(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) = 0;
  virtual void Store(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) = 0;
  /// Emits c += left * right.
  virtual void Dot(Builder& builder, TileDot dot, int c, int left, int right) = 0;
};

/// Returns the target's registers: emulated if the target has the feature, else the machine's.
std::unique_ptr<TileRegisters> MakeTileRegisters(const Target& target);

}  // namespace tunec::jit
