#include "jit/cuda/emulate/instrument.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "jit/cuda/cuda_machine.h"

namespace tunec::jit {
namespace {

// One instruction that accesses memory.
struct Access {
  llvm::Instruction* instruction = nullptr;
  llvm::Value* address = nullptr;  // one address, or a vector with one per lane
  llvm::Type* type = nullptr;      // type of the read or written value
  llvm::Value* mask = nullptr;     // null: always
  bool writes = false;
};

std::optional<Access> AccessOf(llvm::Instruction& instruction) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return Access{load, load->getPointerOperand(), load->getType(), nullptr, false};
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return Access{store, store->getPointerOperand(), store->getValueOperand()->getType(), nullptr,
                  true};
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return std::nullopt;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
      return Access{call, call->getArgOperand(0), call->getType(), call->getArgOperand(1), false};
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
      return Access{call, call->getArgOperand(1), call->getArgOperand(0)->getType(),
                    call->getArgOperand(2), true};
    default:
      return std::nullopt;
  }
}

using Objects = llvm::SmallSetVector<llvm::Value*, 4>;

// Returns the objects that an address is computed from. llvm::getUnderlyingObjects does not support
// vectors.
Objects ObjectsOf(llvm::Value* address) {
  Objects objects;
  Objects seen;
  llvm::SmallVector<llvm::Value*, 8> open = {address};
  while (!open.empty()) {
    llvm::Value* value = open.pop_back_val();
    if (llvm::isa<llvm::UndefValue>(value) || !seen.insert(value)) continue;
    if (auto* element = llvm::dyn_cast<llvm::GEPOperator>(value)) {
      open.push_back(element->getPointerOperand());
    } else if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(value)) {
      open.push_back(cast->getPointerOperand());
    } else if (auto* select = llvm::dyn_cast<llvm::SelectInst>(value)) {
      open.append({select->getTrueValue(), select->getFalseValue()});
    } else if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) {
      open.append(phi->value_op_begin(), phi->value_op_end());
    } else if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(value)) {
      open.append({insert->getOperand(0), insert->getOperand(1)});
    } else if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value)) {
      open.append({shuffle->getOperand(0), shuffle->getOperand(1)});
    } else if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(value)) {
      open.push_back(extract->getVectorOperand());
    } else if (llvm::isa<llvm::ConstantVector, llvm::ConstantDataVector>(value)) {
      for (llvm::Use& operand : llvm::cast<llvm::User>(value)->operands()) open.push_back(operand);
    } else {
      objects.insert(value);
    }
  }
  return objects;
}

class AccessInstrumenter {
 public:
  explicit AccessInstrumenter(llvm::Function& function)
      : function_(function), module_(*function.getParent()), site_(function.getContext()) {
    llvm::Type* pointer = site_.getPtrTy();
    auto* type = llvm::FunctionType::get(site_.getVoidTy(),
                                         {pointer, pointer, pointer, site_.getInt64Ty(),
                                          site_.getInt32Ty(), site_.getInt32Ty(), pointer},
                                         /*isVarArg=*/false);
    called_ = module_.getOrInsertFunction(kAccessName, type);
    llvm::cast<llvm::Function>(called_.getCallee())->setDoesNotThrow();
  }

  void Run() {
    std::vector<Access> accesses;
    std::vector<llvm::CallInst*> copies;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (const auto access = AccessOf(instruction)) accesses.push_back(*access);
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* called = call == nullptr ? nullptr : call->getCalledFunction();
      if (called != nullptr && called->getName() == kCopyName) copies.push_back(call);
    }
    for (const Access& access : accesses) Instrument(access);
    for (llvm::CallInst* copy : copies) Complete(*copy);
  }

 private:
  void Instrument(const Access& access) {
    Objects objects = ObjectsOf(access.address);
    if (llvm::any_of(objects, [&](llvm::Value* object) { return IsOwn(object); })) return;
    // Accesses of constants are not checked. A constant is an object here only because the code
    // selects its address in place of an address that must not be read.
    std::vector<llvm::GlobalVariable*> constants;
    for (llvm::Value* object : objects)
      if (auto* constant = llvm::dyn_cast<llvm::GlobalVariable>(object))
        constants.push_back(constant);
    for (llvm::GlobalVariable* constant : constants) objects.remove(constant);
    if (objects.empty()) return;
    site_.SetInsertPoint(access.instruction);
    llvm::Value* base = BaseOf(objects);
    llvm::Value* name = NameOf(*access.instruction);
    const auto call = [&](llvm::Value* at, llvm::Value* bytes) {
      for (llvm::GlobalVariable* constant : constants)
        bytes = site_.CreateSelect(site_.CreateICmpEQ(at, constant), site_.getInt64(0), bytes);
      site_.CreateCall(called_, {function_.getArg(2), base, at, bytes,
                                 site_.getInt32(access.writes), site_.getInt32(++sites_), name});
    };
    if (access.mask == nullptr) return call(access.address, StoreSize(access.type));
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(access.type)->getNumElements();
    for (unsigned lane = 0; lane < lanes; ++lane)
      call(AddressOfLane(access, lane), BytesOfLane(access, lane));
  }

  // Completes the arguments of a call of kCopyName. A copy has two sites, one for the read and the
  // next one for the write.
  void Complete(llvm::CallInst& copy) {
    constexpr unsigned kToBase = 1;
    constexpr unsigned kFromBase = 3;
    constexpr unsigned kSite = 7;
    constexpr unsigned kName = 8;
    for (const unsigned base : {kToBase, kFromBase})
      copy.setArgOperand(base, BaseOf(ObjectsOf(copy.getArgOperand(base + 1))));
    sites_ += 2;
    copy.setArgOperand(kSite, site_.getInt32(sites_));
    copy.setArgOperand(kName, NameOf(copy));
  }

  // Returns the base address; null if there is not exactly one, or if the object is a vector.
  llvm::Value* BaseOf(const Objects& objects) {
    const bool one = objects.size() == 1 && objects[0]->getType()->isPointerTy();
    return one ? objects[0] : llvm::ConstantPointerNull::get(site_.getPtrTy());
  }

  // Returns the address of an AccessName; null if the instruction has no kAccessMetadata.
  llvm::Constant* NameOf(const llvm::Instruction& instruction) {
    const llvm::MDNode* node = instruction.getMetadata(kAccessMetadata);
    if (node == nullptr) return llvm::ConstantPointerNull::get(site_.getPtrTy());
    llvm::Constant*& name = names_[node];
    if (name != nullptr) return name;
    std::array<llvm::Constant*, 2> fields = {};
    for (unsigned field = 0; field < fields.size(); ++field) {
      const auto* text = llvm::cast<llvm::MDString>(node->getOperand(field));
      fields.at(field) =
          Constant(llvm::ConstantDataArray::getString(module_.getContext(), text->getString()));
    }
    return name = Constant(llvm::ConstantStruct::getAnon(fields));
  }

  llvm::Constant* Constant(llvm::Constant* value) {
    return new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                    llvm::GlobalValue::PrivateLinkage, value);
  }

  llvm::Value* AddressOfLane(const Access& access, unsigned lane) {
    if (access.address->getType()->isVectorTy())
      return site_.CreateExtractElement(access.address, lane);
    return site_.CreateConstGEP1_64(access.type->getScalarType(), access.address, lane);
  }

  // Returns the number of bytes of a lane's access; 0 if the lane is masked off.
  llvm::Value* BytesOfLane(const Access& access, unsigned lane) {
    return site_.CreateSelect(site_.CreateExtractElement(access.mask, lane),
                              StoreSize(access.type->getScalarType()), site_.getInt64(0));
  }

  llvm::Value* StoreSize(llvm::Type* type) {
    return site_.getInt64(module_.getDataLayout().getTypeStoreSize(type).getFixedValue());
  }

  // Returns whether the object is private: the stack, the list of arguments or the EmulatedThread.
  bool IsOwn(const llvm::Value* object) const {
    return llvm::isa<llvm::AllocaInst>(object) || object == function_.getArg(0) ||
           object == function_.getArg(2);
  }

  llvm::Function& function_;
  llvm::Module& module_;
  llvm::IRBuilder<> site_;
  llvm::FunctionCallee called_;
  uint32_t sites_ = 0;  // number of sites so far
  std::map<const llvm::MDNode*, llvm::Constant*> names_;
};

}  // namespace

void InstrumentAccesses(llvm::Function& function) { AccessInstrumenter(function).Run(); }

}  // namespace tunec::jit
