// The emulation of AMX by vector code.
//
// The registers are memory on the phase's stack. Each kind of load, store and product is a function
// of the module, created at its first use and called by all uses. A product has about 500
// instructions. Code generation then processes them once and not for each product.
//
// A product of bfloat16 adds in the order of its definition in ir/tile_intrinsic.cc. Both operands
// become rows of even and of odd elements in float32. Each row of the accumulator then has two
// sums, one of the even and one of the odd products. At the end, the total of both sums is added to
// the row. Denormal operands, sums and results become zeros. The processor's flush modes cannot be
// used, since they also flush some results that round up to the least normal number.
#include "jit/cpu/emulated_tiles.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <array>
#include <functional>
#include <string>

namespace tunec::jit {
namespace {

constexpr int kTiles = 8, kRows = 16, kLanes = 16, kRowBytes = 64;
constexpr int kTileBytes = kRows * kRowBytes;
// The number of rows that a product of bfloat16 sums at once. With a single row, an addition would
// often wait for the previous one.
constexpr int kRowsAtOnce = 4;

/// A writer of one function of vector code in the module. A member such as CopyIn writes the body.
class TileFunction {
 public:
  TileFunction(llvm::Module& module, const std::string& name, bool takes_stride)
      : context_(module.getContext()), b_(context_) {
    std::vector<llvm::Type*> parameters = {
        b_.getPtrTy(), b_.getPtrTy(),
        takes_stride ? static_cast<llvm::Type*>(b_.getInt64Ty()) : b_.getPtrTy()};
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), parameters, false);
    function_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
    function_->setDoesNotThrow();
    for (const auto& [attribute, value] :
         {std::pair("no-builtins", ""), std::pair("frame-pointer", "none"),
          std::pair("prefer-vector-width", "512")}) {
      function_->addFnAttr(attribute, value);
    }
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
    ints_ = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
    floats_ = llvm::FixedVectorType::get(b_.getFloatTy(), kLanes);
  }

  llvm::Function* Finish() {
    b_.CreateRetVoid();
    return function_;
  }

  /// Writes a copy from memory to a tile. The arguments are the tile, the address in memory, and
  /// the distance of the rows in memory, in bytes.
  void CopyIn() {
    for (int row = 0; row < kRows; ++row) {
      StoreRow(LoadRow(ints_, Elsewhere(row), 1), Row(Argument(0), row));
    }
  }
  /// Writes a copy from a tile to memory, with the arguments of CopyIn.
  void CopyOut() {
    for (int row = 0; row < kRows; ++row) {
      b_.CreateAlignedStore(LoadRow(ints_, Row(Argument(0), row), kRowBytes), Elsewhere(row),
                            llvm::Align(1));
    }
  }

  /// Writes c += left * right for tiles of bfloat16. The arguments are c, left and right.
  void DotBFloat16() {
    llvm::Value* left[2] = {NewTile(), NewTile()};
    llvm::Value* right[2] = {NewTile(), NewTile()};
    Widen(Argument(1), left);
    Widen(Argument(2), right);
    ForRows(kRowsAtOnce, [&](llvm::Value* row_bytes) {
      llvm::Value* sums[kRowsAtOnce][2];
      for (auto& of_row : sums) of_row[0] = of_row[1] = llvm::Constant::getNullValue(floats_);
      for (int k = 0; k < kLanes; ++k) {
        for (int odd = 0; odd < 2; ++odd) {
          llvm::Value* b = LoadRow(floats_, Row(right[odd], k), kRowBytes);
          for (int r = 0; r < kRowsAtOnce; ++r) {
            llvm::Value* row = b_.CreatePtrAdd(left[odd], row_bytes);
            llvm::Value* a = Splat(b_.getFloatTy(), Bytes(row, kRowBytes * r + 4 * k));
            sums[r][odd] = Flushed(Fma(a, b, sums[r][odd]));
          }
        }
      }
      for (int r = 0; r < kRowsAtOnce; ++r) {
        llvm::Value* c = Bytes(b_.CreatePtrAdd(Argument(0), row_bytes), kRowBytes * r);
        llvm::Value* sum = Flushed(b_.CreateFAdd(sums[r][0], sums[r][1]));
        StoreRow(Flushed(b_.CreateFAdd(Flushed(LoadRow(floats_, c, kRowBytes)), sum)), c);
      }
    });
  }

  /// Writes c += left * right for tiles of bytes. The arguments are c, left and right.
  void DotUnsignedSigned() {
    ForRows(1, [&](llvm::Value* row_bytes) {
      llvm::Value* c = b_.CreatePtrAdd(Argument(0), row_bytes);
      llvm::Value* row = b_.CreatePtrAdd(Argument(1), row_bytes);
      llvm::Value* sum = LoadRow(ints_, c, kRowBytes);
      for (int k = 0; k < kLanes; ++k) {
        llvm::Value* a = Splat(b_.getInt32Ty(), Bytes(row, 4 * k));
        llvm::Value* b = LoadRow(ints_, Row(Argument(2), k), kRowBytes);
        for (int member = 0; member < 4; ++member) {
          constexpr int kBits = 8, kMost = 24;
          llvm::Value* of_a = b_.CreateAnd(b_.CreateLShr(a, kBits * member), 0xff);
          llvm::Value* of_b = b_.CreateAShr(b_.CreateShl(b, kMost - kBits * member), kMost);
          sum = b_.CreateAdd(sum, b_.CreateMul(of_a, of_b));
        }
      }
      StoreRow(sum, c);
    });
  }

 private:
  llvm::Value* Argument(int i) { return function_->getArg(static_cast<unsigned>(i)); }
  llvm::Value* Bytes(llvm::Value* pointer, int64_t bytes) {
    return b_.CreatePtrAdd(pointer, b_.getInt64(static_cast<uint64_t>(bytes)));
  }
  llvm::Value* Row(llvm::Value* tile, int row) { return Bytes(tile, int64_t{kRowBytes} * row); }
  llvm::Value* Elsewhere(int row) {
    llvm::Value* bytes = b_.CreateMul(Argument(2), b_.getInt64(static_cast<uint64_t>(row)));
    return b_.CreatePtrAdd(Argument(1), bytes);
  }
  llvm::Value* LoadRow(llvm::Type* type, llvm::Value* pointer, uint64_t align) {
    return b_.CreateAlignedLoad(type, pointer, llvm::Align(align));
  }
  void StoreRow(llvm::Value* value, llvm::Value* pointer) {
    b_.CreateAlignedStore(value, pointer, llvm::Align(kRowBytes));
  }
  llvm::Value* Splat(llvm::Type* type, llvm::Value* pointer) {
    return b_.CreateVectorSplat(kLanes, b_.CreateAlignedLoad(type, pointer, llvm::Align(4)));
  }
  llvm::Value* NewTile() {
    auto* memory = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), kTileBytes));
    memory->setAlignment(llvm::Align(kRowBytes));
    return memory;
  }
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {floats_}, {a, b, c});
  }
  /// Replaces denormal numbers by zeros of their sign. Zeros stay unchanged.
  llvm::Value* Flushed(llvm::Value* value) {
    constexpr uint32_t kExponent = 0x7f800000, kSign = 0x80000000;
    llvm::Value* bits = b_.CreateBitCast(value, ints_);
    llvm::Value* zero = llvm::Constant::getNullValue(ints_);
    llvm::Value* tiny = b_.CreateICmpEQ(b_.CreateAnd(bits, Same(kExponent)), zero);
    return b_.CreateBitCast(b_.CreateSelect(tiny, b_.CreateAnd(bits, Same(kSign)), bits), floats_);
  }
  llvm::Constant* Same(uint32_t value) { return llvm::ConstantInt::get(ints_, value); }
  /// Stores a tile's even elements in into[0] and the odd ones in into[1], as float32. Denormal
  /// numbers become zeros.
  void Widen(llvm::Value* tile, llvm::Value* const (&into)[2]) {
    constexpr uint32_t kUpper = 0xffff0000;
    for (int row = 0; row < kRows; ++row) {
      llvm::Value* pairs = LoadRow(ints_, Row(tile, row), kRowBytes);
      llvm::Value* halves[2] = {b_.CreateShl(pairs, 16), b_.CreateAnd(pairs, Same(kUpper))};
      for (int odd = 0; odd < 2; ++odd) {
        StoreRow(Flushed(b_.CreateBitCast(halves[odd], floats_)), Row(into[odd], row));
      }
    }
  }
  /// Emits a loop over groups of `step` rows; the body receives the byte offset of a group's first
  /// row.
  void ForRows(int step, const std::function<void(llvm::Value* row_bytes)>& body) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* loop = llvm::BasicBlock::Create(context_, "rows", function_);
    llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "after", function_);
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* row_bytes = b_.CreatePHI(b_.getInt64Ty(), 2);
    row_bytes->addIncoming(b_.getInt64(0), before);
    body(row_bytes);
    llvm::Value* next =
        b_.CreateAdd(row_bytes, b_.getInt64(static_cast<uint64_t>(step) * kRowBytes));
    row_bytes->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(kTileBytes)), loop, after);
    b_.SetInsertPoint(after);
  }

  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::Type* ints_ = nullptr;
  llvm::Type* floats_ = nullptr;
};

/// Returns the module's function of that name. If there is none, creates it and calls `write`.
llvm::Function* FunctionOf(Builder& builder, const std::string& name, bool takes_stride,
                           void (TileFunction::*write)()) {
  if (llvm::Function* made = builder.module().getFunction(name)) return made;
  TileFunction function(builder.module(), name, takes_stride);
  (function.*write)();
  return function.Finish();
}

class EmulatedTiles : public TileRegisters {
 public:
  void Begin(Builder& builder) override { tiles_ = builder.StackBytes(kTiles * kTileBytes); }
  void End(Builder&) override {}
  void Load(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) override {
    llvm::Function* copy = FunctionOf(builder, "tile_load", true, &TileFunction::CopyIn);
    builder.instructions().CreateCall(copy, {At(builder, tile), pointer, builder.I64(row_bytes)});
  }
  void Store(Builder& builder, int tile, IrValue pointer, int64_t row_bytes) override {
    llvm::Function* copy = FunctionOf(builder, "tile_store", true, &TileFunction::CopyOut);
    builder.instructions().CreateCall(copy, {At(builder, tile), pointer, builder.I64(row_bytes)});
  }
  void Dot(Builder& builder, TileDot dot, int c, int left, int right) override {
    llvm::Function* product =
        dot == TileDot::kBFloat16
            ? FunctionOf(builder, "tile_dot_bf16", false, &TileFunction::DotBFloat16)
            : FunctionOf(builder, "tile_dot_int8", false, &TileFunction::DotUnsignedSigned);
    builder.instructions().CreateCall(product,
                                      {At(builder, c), At(builder, left), At(builder, right)});
  }

 private:
  IrValue At(Builder& builder, int tile) {
    return builder.Offset(tiles_, builder.I64(int64_t{kTileBytes} * tile));
  }

  IrValue tiles_ = nullptr;  // registers of the current function
};

}  // namespace

std::unique_ptr<TileRegisters> MakeEmulatedTiles() { return std::make_unique<EmulatedTiles>(); }

}  // namespace tunec::jit
