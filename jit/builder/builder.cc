#include "jit/builder/builder.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <limits>

#include "jit/builder/builder_impl.h"
#include "support/check.h"

namespace tunec::jit {

namespace {

llvm::Type* ElementType(llvm::LLVMContext& context, Element element) {
  switch (element) {
    case Element::kI1:
      return llvm::Type::getInt1Ty(context);
    case Element::kI8:
      return llvm::Type::getInt8Ty(context);
    case Element::kI16:
      return llvm::Type::getInt16Ty(context);
    case Element::kI32:
      return llvm::Type::getInt32Ty(context);
    case Element::kI64:
      return llvm::Type::getInt64Ty(context);
    case Element::kF16:
      return llvm::Type::getHalfTy(context);
    case Element::kF32:
      return llvm::Type::getFloatTy(context);
    case Element::kF64:
      return llvm::Type::getDoubleTy(context);
    case Element::kPointer:
      return llvm::PointerType::get(context, 0);
  }
  TUNEC_UNREACHABLE("element type");
}

llvm::CmpInst::Predicate PredicateOf(Compare compare) {
  using P = llvm::CmpInst::Predicate;
  static constexpr P kPredicates[] = {
      P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE,
      P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE, P::FCMP_OEQ, P::FCMP_UNE,
      P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE, P::FCMP_UNO};
  return kPredicates[static_cast<int>(compare)];
}

int Lanes(llvm::Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

llvm::Type* WithLanes(llvm::Type* element, llvm::Value* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr ? element
                           : llvm::FixedVectorType::get(element, vector->getNumElements());
}

}  // namespace

Builder::Impl::Impl(const std::string& module_name)
    : context(std::make_shared<llvm::LLVMContext>()),
      module(std::make_shared<llvm::Module>(module_name, *context)),
      builder(std::make_shared<llvm::IRBuilder<>>(*context)),
      ir(*builder) {}

llvm::Type* Builder::Impl::Type(IrType type) {
  llvm::Type* element = ElementType(*context, type.element);
  return type.lanes == 1 ? element : llvm::FixedVectorType::get(element, type.lanes);
}

void Builder::Impl::Match(llvm::Value*& a, llvm::Value*& b) {
  const int lanes_a = Lanes(a);
  const int lanes_b = Lanes(b);
  if (lanes_a == lanes_b) return;
  TUNEC_CHECK(lanes_a == 1 || lanes_b == 1, "vectors of {} and {} lanes", lanes_a, lanes_b);
  if (lanes_a == 1) a = Splat(a, lanes_b);
  if (lanes_b == 1) b = Splat(b, lanes_a);
}

llvm::Value* Builder::Impl::Splat(llvm::Value* scalar, int lanes) {
  if (elsewhere || llvm::isa<llvm::Constant>(scalar)) return ir.CreateVectorSplat(lanes, scalar);
  llvm::Value*& splat = splats[{scalar, lanes}];
  if (splat == nullptr) splat = ir.CreateVectorSplat(lanes, scalar);
  return splat;
}

Builder::Builder(const std::string& module_name) : impl_(std::make_unique<Impl>(module_name)) {}
Builder::~Builder() = default;

llvm::Module& Builder::module() { return *impl_->module; }
llvm::IRBuilderBase& Builder::instructions() { return impl_->ir; }

void Builder::SetBFloat16Rounding(BFloat16Rounding rounding) {
  impl_->bfloat16_rounding = rounding;
}
Builder::BFloat16Rounding Builder::bfloat16_rounding() const { return impl_->bfloat16_rounding; }
void Builder::FlushDenormals() { impl_->flushes_denormals = true; }
bool Builder::flushes_denormals() const { return impl_->flushes_denormals; }
void Builder::SetPowerScaling(PowerScaling scaling) { impl_->power_scaling = scaling; }
bool Builder::ScalesByPower(IrType type) const {
  return impl_->power_scaling.takes != nullptr && impl_->power_scaling.takes(type);
}
IrValue Builder::ScaleByPower(IrValue value, IrValue power) {
  return impl_->power_scaling.emit(*this, value, power);
}

// --- constants ---

IrValue Builder::Int(Element element, int64_t value) {
  return llvm::ConstantInt::getSigned(ElementType(*impl_->context, element),
                                      element == Element::kI1 ? -(value & 1) : value, true);
}

IrValue Builder::Float(Element element, double value) {
  return llvm::ConstantFP::get(ElementType(*impl_->context, element), value);
}

IrValue Builder::Like(IrValue like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

IrValue Builder::IntLike(IrValue like, int64_t value) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value), true, true);
}

IrValue Builder::IntVector(Element element, std::span<const int64_t> values) {
  std::vector<llvm::Constant*> lanes;
  for (const int64_t value : values)
    lanes.push_back(llvm::cast<llvm::Constant>(Int(element, value)));
  return lanes.size() == 1 ? lanes[0] : llvm::ConstantVector::get(lanes);
}

IrValue Builder::Mask(std::span<const bool> lanes) {
  std::vector<int64_t> bits(lanes.begin(), lanes.end());
  return IntVector(Element::kI1, bits);
}

IrValue Builder::MaskOfFirst(int active, int lanes) {
  std::vector<int64_t> bits(lanes);
  for (int i = 0; i < lanes; ++i) bits[i] = i < active;
  return IntVector(Element::kI1, bits);
}

IrValue Builder::Poison(IrType type) { return llvm::PoisonValue::get(impl_->Type(type)); }

bool Builder::IsInt(IrValue value, int64_t expected) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr) return false;
  if (value->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  if (number == nullptr) return false;
  return number->getBitWidth() == 1 ? number->getZExtValue() == static_cast<uint64_t>(expected & 1)
                                    : number->getSExtValue() == expected;
}

bool Builder::IsFloatConstant(IrValue value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr) return false;
  if (value->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number != nullptr && !number->isNaN();
}

std::vector<int64_t> Builder::ConstantLanes(IrValue value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr || !value->getType()->isVectorTy()) return {};
  std::vector<int64_t> lanes;
  for (int i = 0; i < Lanes(value); ++i) {
    const auto* lane = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(i));
    if (lane == nullptr) return {};
    lanes.push_back(lane->getBitWidth() == 1 ? lane->getZExtValue() : lane->getSExtValue());
  }
  return lanes;
}

IrType Builder::TypeOf(IrValue value) {
  llvm::Type* element = value->getType()->getScalarType();
  IrType type{Element::kPointer, Lanes(value)};
  if (element->isHalfTy()) type.element = Element::kF16;
  if (element->isFloatTy()) type.element = Element::kF32;
  if (element->isDoubleTy()) type.element = Element::kF64;
  if (element->isIntegerTy()) {
    switch (element->getIntegerBitWidth()) {
      case 1:
        type.element = Element::kI1;
        break;
      case 8:
        type.element = Element::kI8;
        break;
      case 16:
        type.element = Element::kI16;
        break;
      case 32:
        type.element = Element::kI32;
        break;
      default:
        type.element = Element::kI64;
        break;
    }
  }
  return type;
}

// --- arithmetic ---

#define TUNEC_BINARY(name, create)              \
  IrValue Builder::name(IrValue a, IrValue b) { \
    impl_->Match(a, b);                         \
    return impl_->ir.create(a, b);              \
  }
TUNEC_BINARY(Add, CreateAdd)
TUNEC_BINARY(Sub, CreateSub)
TUNEC_BINARY(Mul, CreateMul)
TUNEC_BINARY(SDiv, CreateSDiv)
TUNEC_BINARY(UDiv, CreateUDiv)
TUNEC_BINARY(SRem, CreateSRem)
TUNEC_BINARY(URem, CreateURem)
TUNEC_BINARY(And, CreateAnd)
TUNEC_BINARY(Or, CreateOr)
TUNEC_BINARY(Xor, CreateXor)
TUNEC_BINARY(Shl, CreateShl)
TUNEC_BINARY(LShr, CreateLShr)
TUNEC_BINARY(AShr, CreateAShr)
TUNEC_BINARY(FAdd, CreateFAdd)
TUNEC_BINARY(FSub, CreateFSub)
TUNEC_BINARY(FMul, CreateFMul)
TUNEC_BINARY(FDiv, CreateFDiv)
#undef TUNEC_BINARY

IrValue Builder::MultiplyHigh(IrValue a, IrValue b) {
  auto& ir = impl_->ir;
  llvm::Type* wide = ir.getIntNTy(2 * a->getType()->getIntegerBitWidth());
  llvm::Value* product = ir.CreateMul(ir.CreateZExt(a, wide), ir.CreateZExt(b, wide));
  return ir.CreateTrunc(ir.CreateLShr(product, a->getType()->getIntegerBitWidth()), a->getType());
}

#define TUNEC_BINARY_INTRINSIC(name, id)                               \
  IrValue Builder::name(IrValue a, IrValue b) {                        \
    impl_->Match(a, b);                                                \
    return impl_->ir.CreateBinaryIntrinsic(llvm::Intrinsic::id, a, b); \
  }
TUNEC_BINARY_INTRINSIC(SMin, smin)
TUNEC_BINARY_INTRINSIC(SMax, smax)
TUNEC_BINARY_INTRINSIC(UMin, umin)
TUNEC_BINARY_INTRINSIC(UMax, umax)
#undef TUNEC_BINARY_INTRINSIC

// Copies the sign with integer operations. With LLVM's copysign and a widened sign, the
// instruction selection narrows from double to half in one step, which becomes a library call.
IrValue Builder::CopySign(IrValue a, IrValue sign) {
  const Element element = TypeOf(a).element;
  const bool wide = element == Element::kF64;
  const Element bits = wide ? Element::kI64 : Element::kI32;
  const IrValue magnitude = Bitcast(a, bits);
  const IrValue mask =
      IntLike(magnitude, wide ? std::numeric_limits<int64_t>::min() : int64_t{0x80000000});
  const IrValue rest = Xor(mask, IntLike(magnitude, -1));
  return Bitcast(Or(And(magnitude, rest), And(Bitcast(sign, bits), mask)), element);
}

#define TUNEC_UNARY_INTRINSIC(name, id)                            \
  IrValue Builder::name(IrValue a) {                               \
    return impl_->ir.CreateUnaryIntrinsic(llvm::Intrinsic::id, a); \
  }
TUNEC_UNARY_INTRINSIC(FAbs, fabs)
TUNEC_UNARY_INTRINSIC(Sqrt, sqrt)
TUNEC_UNARY_INTRINSIC(Floor, floor)
TUNEC_UNARY_INTRINSIC(Ceil, ceil)
TUNEC_UNARY_INTRINSIC(Truncate, trunc)
TUNEC_UNARY_INTRINSIC(RoundEven, roundeven)
#undef TUNEC_UNARY_INTRINSIC

IrValue Builder::Not(IrValue a) { return impl_->ir.CreateNot(a); }
IrValue Builder::FNeg(IrValue a) { return impl_->ir.CreateFNeg(a); }

IrValue Builder::Fma(IrValue a, IrValue b, IrValue c) {
  impl_->Match(a, b);
  impl_->Match(a, c);
  impl_->Match(b, c);
  return impl_->ir.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

IrValue Builder::Cmp(Compare compare, IrValue a, IrValue b) {
  impl_->Match(a, b);
  return impl_->ir.CreateCmp(PredicateOf(compare), a, b);
}

IrValue Builder::Select(IrValue condition, IrValue yes, IrValue no) {
  impl_->Match(yes, no);
  // A scalar condition may select between vectors. A vector condition requires vectors, so scalar
  // operands are splatted.
  if (Lanes(condition) > 1 && Lanes(yes) == 1) {
    yes = Splat(yes, Lanes(condition));
    no = Splat(no, Lanes(condition));
  }
  return impl_->ir.CreateSelect(condition, yes, no);
}

// --- conversions ---

#define TUNEC_CONVERSION(name, create)                                          \
  IrValue Builder::name(IrValue a, Element to) {                                \
    return impl_->ir.create(a, WithLanes(ElementType(*impl_->context, to), a)); \
  }
TUNEC_CONVERSION(IntTruncate, CreateTrunc)
TUNEC_CONVERSION(ZeroExtend, CreateZExt)
TUNEC_CONVERSION(SignExtend, CreateSExt)
TUNEC_CONVERSION(FloatExtend, CreateFPExt)
TUNEC_CONVERSION(FloatTruncate, CreateFPTrunc)
TUNEC_CONVERSION(SignedToFloat, CreateSIToFP)
TUNEC_CONVERSION(UnsignedToFloat, CreateUIToFP)
TUNEC_CONVERSION(FloatToSigned, CreateFPToSI)
TUNEC_CONVERSION(FloatToUnsigned, CreateFPToUI)
TUNEC_CONVERSION(Bitcast, CreateBitCast)
#undef TUNEC_CONVERSION

// --- vectors ---

IrValue Builder::Splat(IrValue scalar, int lanes) {
  if (lanes == 1 || Lanes(scalar) == lanes) return scalar;
  return impl_->Splat(scalar, lanes);
}

IrValue Builder::Extract(IrValue vector, int lane) {
  return Lanes(vector) == 1 ? vector : impl_->ir.CreateExtractElement(vector, uint64_t(lane));
}

IrValue Builder::Insert(IrValue vector, IrValue scalar, int lane) {
  return Lanes(vector) == 1 ? scalar
                            : impl_->ir.CreateInsertElement(vector, scalar, uint64_t(lane));
}

IrValue Builder::Shuffle(IrValue a, IrValue b, std::span<const int> indices) {
  return impl_->ir.CreateShuffleVector(a, b, llvm::ArrayRef<int>(indices.data(), indices.size()));
}

IrValue Builder::Any(IrValue mask) {
  const int lanes = Lanes(mask);
  if (lanes == 1) return mask;
  IrValue bits = impl_->ir.CreateBitCast(mask, llvm::Type::getIntNTy(*impl_->context, lanes));
  return impl_->ir.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
}

}  // namespace tunec::jit
