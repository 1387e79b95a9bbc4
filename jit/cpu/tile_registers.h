// The eight tile registers of AMX: the machine's own, or memory in their place.
#pragma once

#include <cstdint>
#include <memory>

#include "ir/target.h"
#include "jit/builder/builder.h"

namespace tunec::jit {

/// What a product of tiles multiplies.
enum class TileDot : uint8_t {
  kBFloat16,        // pairs of bf16, accumulated in f32
  kUnsignedSigned,  // fours of u8 times i8, accumulated in i32
};

/// Registers 0 to 7, each of 16 rows of 64 bytes. One object emits one function after another.
class TileRegisters {
 public:
  virtual ~TileRegisters() = default;

  /// Before anything else in a function.
  virtual void Begin(Builder& builder) = 0;
  /// Where the function's use of them ends.
  virtual void End(Builder& builder) = 0;
  virtual void Load(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) = 0;
  virtual void Store(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) = 0;
  /// c += left * right.
  virtual void Dot(Builder& builder, TileDot dot, int c, int left, int right) = 0;
};

/// Those of the target: emulated where it has the feature for that, else the machine's.
std::unique_ptr<TileRegisters> MakeTileRegisters(const Target& target);

}  // namespace tunec::jit
