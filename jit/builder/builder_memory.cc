// The part of Builder for functions, blocks and memory.
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <optional>

#include "jit/builder/builder_impl.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

// Returns the single lane that a constant mask enables; nullopt for other masks.
std::optional<uint64_t> OnlyLane(IrValue mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (constant == nullptr) return {};
  std::optional<uint64_t> only;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const llvm::Constant* element = constant->getAggregateElement(lane);
    if (element == nullptr || (!element->isOneValue() && !element->isNullValue())) return {};
    if (!element->isOneValue()) continue;
    if (only) return {};
    only = lane;
  }
  return only;
}

}  // namespace

std::vector<IrValue> Builder::BeginFunction(const std::string& name,
                                            std::span<const IrType> parameters) {
  llvm::LLVMContext& context = *impl_->context;
  std::vector<llvm::Type*> types;
  for (const IrType& parameter : parameters) types.push_back(impl_->Type(parameter));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  impl_->function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, *impl_->module);
  impl_->function->setDoesNotThrow();
  // Loops must stay loops and never become calls of memset or memcpy.
  impl_->function->addFnAttr("no-builtins");
  impl_->function->addFnAttr("frame-pointer", "none");
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].element == Element::kPointer)
      impl_->function->addParamAttr(static_cast<unsigned>(i), llvm::Attribute::NoAlias);
  }
  impl_->slots.clear();
  impl_->brief_stack.clear();
  impl_->ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", impl_->function));
  // Slots are inserted into the entry block, before its branch to `first`.
  impl_->splats.clear();
  auto* first = llvm::BasicBlock::Create(context, "start", impl_->function);
  impl_->ir.CreateBr(first);
  impl_->ir.SetInsertPoint(first);
  std::vector<IrValue> arguments;
  for (llvm::Argument& argument : impl_->function->args()) arguments.push_back(&argument);
  return arguments;
}

void Builder::AddFunctionAttribute(const std::string& name, const std::string& value) {
  impl_->function->addFnAttr(name, value);
}

void Builder::EndFunction() {
  impl_->ir.CreateRetVoid();
  if (impl_->slots.empty()) return;
  llvm::DominatorTree tree(*impl_->function);
  llvm::PromoteMemToReg(impl_->slots, tree);
  impl_->slots.clear();
}

IrBlock Builder::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(*impl_->context, name, impl_->function);
}
IrBlock Builder::CurrentBlock() { return impl_->ir.GetInsertBlock(); }
void Builder::SetBlock(IrBlock block) {
  impl_->ir.SetInsertPoint(block);
  impl_->splats.clear();
}
void Builder::Branch(IrBlock to) { impl_->ir.CreateBr(to); }
void Builder::CondBranch(IrValue condition, IrBlock yes, IrBlock no) {
  impl_->ir.CreateCondBr(condition, yes, no);
}
void Builder::RareBranch(IrValue condition, IrBlock yes, IrBlock no) {
  llvm::MDBuilder metadata(*impl_->context);
  impl_->ir.CreateCondBr(condition, yes, no, metadata.createUnlikelyBranchWeights());
}

IrValue Builder::Phi(IrType type) { return impl_->ir.CreatePHI(impl_->Type(type), 2); }
void Builder::AddIncoming(IrValue phi, IrValue value, IrBlock from) {
  llvm::cast<llvm::PHINode>(phi)->addIncoming(value, from);
}

Builder::InsertAtEndOf::InsertAtEndOf(Builder& builder, IrBlock block) : builder_(builder) {
  if (block == nullptr) return;
  saved_block_ = builder.CurrentBlock();
  TUNEC_CHECK(block->getTerminator() != nullptr, "the block has no terminator yet");
  was_elsewhere_ = builder.impl_->elsewhere;
  builder.impl_->elsewhere = true;
  builder.impl_->ir.SetInsertPoint(block->getTerminator());
}
Builder::InsertAtEndOf::~InsertAtEndOf() {
  if (saved_block_ == nullptr) return;
  builder_.impl_->elsewhere = was_elsewhere_;
  // Restores the insertion point: before the terminator of a finished block, or at the end.
  if (was_elsewhere_) {
    builder_.impl_->ir.SetInsertPoint(saved_block_->getTerminator());
  } else {
    builder_.impl_->ir.SetInsertPoint(saved_block_);
  }
}

// --- memory ---

IrValue Builder::Offset(IrValue pointer, IrValue bytes) {
  if (IsInt(bytes, 0) && LanesOf(bytes) == 1) return pointer;
  return impl_->ir.CreateGEP(llvm::Type::getInt8Ty(*impl_->context), pointer, bytes);
}

IrValue Builder::Load(IrType type, IrValue pointer, int64_t align, bool invariant) {
  auto* load = impl_->ir.CreateAlignedLoad(impl_->Type(type), pointer, llvm::Align(align));
  if (invariant)
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(*impl_->context, {}));
  return load;
}

void Builder::Store(IrValue value, IrValue pointer, int64_t align, bool non_temporal) {
  auto* store = impl_->ir.CreateAlignedStore(value, pointer, llvm::Align(align));
  if (!non_temporal) return;
  auto* one = llvm::ConstantAsMetadata::get(impl_->ir.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(*impl_->context, one));
}

IrValue Builder::MaskedLoad(IrType type, IrValue pointer, int64_t align, IrValue mask,
                            IrValue otherwise) {
  return impl_->ir.CreateMaskedLoad(impl_->Type(type), pointer, llvm::Align(align), mask,
                                    otherwise);
}
void Builder::MaskedStore(IrValue value, IrValue pointer, int64_t align, IrValue mask) {
  if (const std::optional<uint64_t> lane = OnlyLane(mask)) {
    // A single lane is stored without a mask. LLVM 22 stores the single lane of a narrowed vector
    // in the wider type, which overwrites the bytes behind the lane.
    auto* element = impl_->ir.CreateExtractElement(value, *lane);
    const uint64_t offset = *lane * element->getType()->getPrimitiveSizeInBits() / 8;
    auto* address = impl_->ir.CreateGEP(element->getType(), pointer, impl_->ir.getInt64(*lane));
    impl_->ir.CreateAlignedStore(element, address,
                                 llvm::commonAlignment(llvm::Align(align), offset));
    return;
  }
  impl_->ir.CreateMaskedStore(value, pointer, llvm::Align(align), mask);
}
IrValue Builder::Gather(IrType type, IrValue pointers, int64_t align, IrValue mask,
                        IrValue otherwise) {
  return impl_->ir.CreateMaskedGather(impl_->Type(type), pointers, llvm::Align(align), mask,
                                      otherwise);
}
void Builder::Scatter(IrValue value, IrValue pointers, int64_t align, IrValue mask) {
  impl_->ir.CreateMaskedScatter(value, pointers, llvm::Align(align), mask);
}

void Builder::Prefetch(IrValue pointer, bool for_write, int locality) {
  impl_->ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                            {pointer, impl_->ir.getInt32(for_write), impl_->ir.getInt32(locality),
                             impl_->ir.getInt32(1)});
}

IrValue Builder::PointerToInt(IrValue pointer) {
  return impl_->ir.CreatePtrToInt(pointer, impl_->ir.getInt64Ty());
}

IrValue Builder::SafeConstant(IrValue constant) {
  if (const auto it = impl_->addresses.find(constant); it != impl_->addresses.end())
    return it->second;
  auto* global = new llvm::GlobalVariable(*impl_->module, constant->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage,
                                          llvm::cast<llvm::Constant>(constant), "outside");
  global->setAlignment(llvm::Align(8));
  impl_->addresses[constant] = global;
  return global;
}

IrValue Builder::Slot(IrType type) {
  llvm::IRBuilder<> entry(&impl_->function->getEntryBlock(),
                          impl_->function->getEntryBlock().begin());
  auto* slot = entry.CreateAlloca(impl_->Type(type));
  impl_->slots.push_back(slot);
  return slot;
}
IrValue Builder::LoadSlot(IrValue slot, IrType type) {
  return impl_->ir.CreateLoad(impl_->Type(type), slot);
}
void Builder::StoreSlot(IrValue slot, IrValue value) { impl_->ir.CreateStore(value, slot); }

IrValue Builder::StackBytes(int64_t bytes) {
  llvm::IRBuilder<> entry(&impl_->function->getEntryBlock(),
                          impl_->function->getEntryBlock().begin());
  auto* type = llvm::ArrayType::get(entry.getInt8Ty(), bytes);
  auto* memory = entry.CreateAlloca(type);
  memory->setAlignment(llvm::Align(64));
  return memory;
}
IrValue Builder::ScratchStackBytes(int64_t bytes) {
  llvm::Value*& memory = impl_->brief_stack[bytes];
  if (memory == nullptr) memory = StackBytes(bytes);
  return memory;
}

}  // namespace tunec::jit
