// A thin wrapper of LLVM's IRBuilder, by which the code generators write instructions. The code of
// jit/emit and jit/math handles opaque values and needs no LLVM header. Arithmetic (except
// MultiplyHigh) and conversions are elementwise and accept scalars or vectors. If one operand is a
// scalar and the other a vector, the scalar is splatted. Most operations on constants fold at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace llvm {
class BasicBlock;
class IRBuilderBase;
class Instruction;
class Module;
class Type;
class Value;
}  // namespace llvm

namespace tunec::jit {

using IrValue = llvm::Value*;
using IrBlock = llvm::BasicBlock*;

enum class Element : uint8_t { kI1, kI8, kI16, kI32, kI64, kF16, kF32, kF64, kPointer };

/// The type of a scalar (lanes 1) or of a vector.
struct IrType {
  Element element = Element::kI64;
  int lanes = 1;
  bool operator==(const IrType&) const = default;
};

/// Comparisons of signed and unsigned integers, and ordered comparisons of floats. Two are not
/// ordered: kFne is also true if an operand is NaN, and kFunordered is true exactly in this case.
enum class Compare : uint8_t {
  kEq,
  kNe,
  kSlt,
  kSle,
  kSgt,
  kSge,
  kUlt,
  kUle,
  kUgt,
  kUge,
  kFeq,
  kFne,
  kFlt,
  kFle,
  kFgt,
  kFge,
  kFunordered
};

/// A writer of one LLVM module. The class is not thread-safe; each compilation has a separate
/// object.
class Builder {
 public:
  explicit Builder(const std::string& module_name);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  llvm::Module& module();
  /// Returns LLVM's own builder, for instructions of a single machine.
  llvm::IRBuilderBase& instructions();

  /// A function that emits the machine's instruction which rounds a vector of f32 to bfloat16. The
  /// result has the bits of the bfloat16 numbers as i16. The instruction may treat denormal numbers
  /// as 0.
  using BFloat16Rounding = IrValue (*)(Builder& builder, IrValue value);
  void SetBFloat16Rounding(BFloat16Rounding rounding);
  /// Returns the function that was set, or null. With null, the rounding uses integer instructions.
  BFloat16Rounding bfloat16_rounding() const;

  /// The machine's instruction for value * 2^power, rounded once; null functions if there is none.
  /// Powers are whole numbers of the value's type. `takes` returns whether a type is supported.
  struct PowerScaling {
    bool (*takes)(IrType type) = nullptr;
    IrValue (*emit)(Builder& builder, IrValue value, IrValue power) = nullptr;
  };
  void SetPowerScaling(PowerScaling scaling);
  /// Lets exponentials of differences return 0 in place of denormal numbers.
  void FlushDenormals();
  bool flushes_denormals() const;

  /// Returns whether the machine has a power scaling for operands of this type.
  bool ScalesByPower(IrType type) const;
  /// Emits value * 2^power. Requires ScalesByPower(TypeOf(value)).
  IrValue ScaleByPower(IrValue value, IrValue power);

  // --- functions and control flow ---
  /// Starts a function without a result, and returns its arguments. Pointer arguments are marked as
  /// not aliased.
  std::vector<IrValue> BeginFunction(const std::string& name, std::span<const IrType> parameters);
  /// Adds an LLVM attribute to the current function.
  void AddFunctionAttribute(const std::string& name, const std::string& value);
  /// Ends the function with a return and promotes its slots to SSA values.
  void EndFunction();
  IrBlock NewBlock(const char* name);
  IrBlock CurrentBlock();
  void SetBlock(IrBlock block);
  void Branch(IrBlock to);
  void CondBranch(IrValue condition, IrBlock yes, IrBlock no);
  /// Branches like CondBranch where `yes` is rarely taken. LLVM may place the code of `yes` apart
  /// and assign registers for `no`.
  void RareBranch(IrValue condition, IrBlock yes, IrBlock no);
  IrValue Phi(IrType type);
  void AddIncoming(IrValue phi, IrValue value, IrBlock from);
  /// A scope in which instructions go before the terminator of `block` (nullptr: no change).
  class InsertAtEndOf {
   public:
    InsertAtEndOf(Builder& builder, IrBlock block);
    ~InsertAtEndOf();

   private:
    Builder& builder_;
    IrBlock saved_block_ = nullptr;
    bool was_elsewhere_ = false;
  };

  // --- constants ---
  IrValue Int(Element element, int64_t value);
  IrValue I64(int64_t value) { return Int(Element::kI64, value); }
  IrValue Float(Element element, double value);
  /// Returns the constant `value` in the element type (and lanes) of `like`.
  IrValue Like(IrValue like, double value);
  IrValue IntLike(IrValue like, int64_t value);
  IrValue IntVector(Element element, std::span<const int64_t> values);
  IrValue Mask(std::span<const bool> lanes);
  IrValue MaskOfFirst(int active, int lanes);
  IrValue Poison(IrType type);
  IrValue Bool(bool value) { return Int(Element::kI1, value); }
  /// Returns whether the value is the integer constant `expected` (in every lane).
  bool IsInt(IrValue value, int64_t expected);
  /// Returns whether the value is a float constant, the same in every lane, and not NaN.
  bool IsFloatConstant(IrValue value);
  /// Returns the lanes of a constant integer vector; empty for any other value.
  std::vector<int64_t> ConstantLanes(IrValue value);

  // --- types ---
  IrType TypeOf(IrValue value);
  int LanesOf(IrValue value) { return TypeOf(value).lanes; }

  // --- arithmetic ---
  IrValue Add(IrValue a, IrValue b);
  IrValue Sub(IrValue a, IrValue b);
  IrValue Mul(IrValue a, IrValue b);
  IrValue MultiplyHigh(IrValue a, IrValue b);  // upper half of a product of unsigned scalars
  IrValue SDiv(IrValue a, IrValue b);
  IrValue UDiv(IrValue a, IrValue b);
  IrValue SRem(IrValue a, IrValue b);
  IrValue URem(IrValue a, IrValue b);
  IrValue And(IrValue a, IrValue b);
  IrValue Or(IrValue a, IrValue b);
  IrValue Xor(IrValue a, IrValue b);
  IrValue Not(IrValue a);
  IrValue Shl(IrValue a, IrValue b);
  IrValue LShr(IrValue a, IrValue b);
  IrValue AShr(IrValue a, IrValue b);
  IrValue SMin(IrValue a, IrValue b);
  IrValue SMax(IrValue a, IrValue b);
  IrValue UMin(IrValue a, IrValue b);
  IrValue UMax(IrValue a, IrValue b);
  IrValue FAdd(IrValue a, IrValue b);
  IrValue FSub(IrValue a, IrValue b);
  IrValue FMul(IrValue a, IrValue b);
  IrValue FDiv(IrValue a, IrValue b);
  IrValue FNeg(IrValue a);
  IrValue FAbs(IrValue a);
  IrValue Fma(IrValue a, IrValue b, IrValue c);
  IrValue Sqrt(IrValue a);
  IrValue Floor(IrValue a);
  IrValue Ceil(IrValue a);
  IrValue Truncate(IrValue a);
  IrValue RoundEven(IrValue a);
  IrValue CopySign(IrValue magnitude, IrValue sign);
  IrValue Cmp(Compare compare, IrValue a, IrValue b);
  IrValue Select(IrValue condition, IrValue yes, IrValue no);

  // --- conversions (the number of lanes stays) ---
  IrValue IntTruncate(IrValue a, Element to);
  IrValue ZeroExtend(IrValue a, Element to);
  IrValue SignExtend(IrValue a, Element to);
  IrValue FloatExtend(IrValue a, Element to);
  IrValue FloatTruncate(IrValue a, Element to);
  IrValue SignedToFloat(IrValue a, Element to);
  IrValue UnsignedToFloat(IrValue a, Element to);
  /// Convert towards zero. The result is undefined for a value that does not fit.
  IrValue FloatToSigned(IrValue a, Element to);
  IrValue FloatToUnsigned(IrValue a, Element to);
  IrValue Bitcast(IrValue a, Element to);

  // --- vectors ---
  IrValue Splat(IrValue scalar, int lanes);
  IrValue Extract(IrValue vector, int lane);
  IrValue Insert(IrValue vector, IrValue scalar, int lane);
  /// Returns a vector whose lane i is lane indices[i] of the concatenation of a and b. The index -1
  /// gives an undefined lane.
  IrValue Shuffle(IrValue a, IrValue b, std::span<const int> indices);
  /// Emits the test whether any lane of a mask is set.
  IrValue Any(IrValue mask);

  // --- memory (addresses in bytes) ---
  IrValue Offset(IrValue pointer, IrValue bytes);  // vector bytes give a vector of pointers
  IrValue Load(IrType type, IrValue pointer, int64_t align, bool invariant = false);
  void Store(IrValue value, IrValue pointer, int64_t align, bool non_temporal = false);
  IrValue MaskedLoad(IrType type, IrValue pointer, int64_t align, IrValue mask, IrValue otherwise);
  void MaskedStore(IrValue value, IrValue pointer, int64_t align, IrValue mask);
  IrValue Gather(IrType type, IrValue pointers, int64_t align, IrValue mask, IrValue otherwise);
  void Scatter(IrValue value, IrValue pointers, int64_t align, IrValue mask);
  void Prefetch(IrValue pointer, bool for_write, int locality);
  IrValue PointerToInt(IrValue pointer);
  /// Returns the address of a constant in the module; equal constants share one address.
  IrValue SafeConstant(IrValue constant);
  /// Returns a variable of this function that EndFunction turns into SSA values.
  IrValue Slot(IrType type);
  IrValue LoadSlot(IrValue slot, IrType type);
  void StoreSlot(IrValue slot, IrValue value);
  /// Returns 64-byte aligned stack memory, which EndFunction does not promote to SSA values.
  IrValue StackBytes(int64_t bytes);
  /// Returns stack memory like StackBytes. Within a function, all calls with the same number of
  /// bytes return the same memory, so the contents must be used before the next call.
  IrValue ScratchStackBytes(int64_t bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec::jit
