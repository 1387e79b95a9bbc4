// The interface to the eight tile registers of AMX, which may be emulated in memory.
#pragma once

#include <cstdint>
#include <memory>

#include "ir/target.h"
#include "jit/builder/builder.h"

namespace tunec::jit {

/// The element types of a product of tiles.
enum class TileDot : uint8_t {
  kBFloat16,        // pairs of bf16, accumulated in f32
  kUnsignedSigned,  // groups of four u8 times i8, accumulated in i32
};

/// The registers 0 to 7, each of 16 rows of 64 bytes. An object emits code for functions one after
/// another.
class TileRegisters {
 public:
  virtual ~TileRegisters() = default;

  /// Emits the setup of the registers. Must be called for each function, before the other members.
  virtual void Begin(Builder& builder) = 0;
  /// Ends the use of the registers in the function. Emits their release if AMX is not emulated.
  virtual void End(Builder& builder) = 0;
  virtual void Load(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) = 0;
  virtual void Store(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) = 0;
  /// Emits c += left * right.
  virtual void Dot(Builder& builder, TileDot dot, int c, int left, int right) = 0;
};

/// Returns emulated registers if the target has kAmxEmulated, and the machine's otherwise.
std::unique_ptr<TileRegisters> MakeTileRegisters(const Target& target);

}  // namespace tunec::jit
