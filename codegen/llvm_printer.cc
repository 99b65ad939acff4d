#include "codegen/llvm_printer.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "spec/check.h"

namespace kirsch {
namespace {

using llvm::Value;

constexpr uint64_t kScratchAlignment = 64;

llvm::Type* ElementType(Dtype dtype, llvm::LLVMContext& context) {
  KIRSCH_CHECK(dtype == Dtype::kF32);
  return llvm::Type::getFloatTy(context);
}

// Prints the body of one procedure. Every variable is a stack slot, which mem2reg makes SSA values of.
class BodyPrinter {
 public:
  BodyPrinter(const Procedure& procedure, llvm::Function* function,
              const std::vector<llvm::Function*>& callees, const std::vector<int>& argument_of)
      : procedure_(procedure), function_(function), callees_(callees), ir_(function->getContext()) {
    ir_.SetInsertPoint(llvm::BasicBlock::Create(ir_.getContext(), "", function_));
    for (const Var& var : procedure.vars) slots_.push_back(ir_.CreateAlloca(TypeOf(var), nullptr, var.name));
    for (int i = 0; i < procedure.num_parameters; ++i)
      Set(i, function_->getArg(static_cast<unsigned>(argument_of[static_cast<size_t>(i)])));
  }

  void Print() {
    PrintBlock(procedure_.body);
    ir_.CreateRetVoid();
  }

 private:
  const Var& VarOf(VarId id) const { return procedure_.vars[static_cast<size_t>(id)]; }
  llvm::Type* TypeOf(const Var& var) {
    switch (var.type) {
      case VarType::kPointer:
        return ir_.getPtrTy();
      case VarType::kIndex:
        return ir_.getInt64Ty();
      case VarType::kVector:
        return llvm::FixedVectorType::get(ElementType(var.dtype, ir_.getContext()),
                                          static_cast<unsigned>(var.lanes));
    }
    KIRSCH_CHECK(false && "unknown variable type");
  }
  llvm::FixedVectorType* VectorTypeOf(VarId id) {
    return llvm::cast<llvm::FixedVectorType>(TypeOf(VarOf(id)));
  }

  Value* Get(VarId id) { return ir_.CreateLoad(TypeOf(VarOf(id)), slots_[static_cast<size_t>(id)]); }
  void Set(VarId id, Value* value) { ir_.CreateStore(value, slots_[static_cast<size_t>(id)]); }

  Value* ValueOf(const Affine& affine) {
    Value* sum = nullptr;
    for (const Affine::Term& term : affine.terms) {
      Value* product = Get(term.index);
      if (term.coefficient != 1)
        product =
            ir_.CreateMul(product, ir_.getInt64(static_cast<uint64_t>(term.coefficient)), "", true, true);
      sum = sum == nullptr ? product : ir_.CreateAdd(sum, product, "", true, true);
    }
    Value* constant = ir_.getInt64(static_cast<uint64_t>(affine.constant));
    if (sum == nullptr) return constant;
    return affine.constant == 0 ? sum : ir_.CreateAdd(sum, constant, "", true, true);
  }

  // Indices first, the constant last, so that it can become the displacement of the access.
  Value* ValueOf(const Address& address) {
    Value* pointer = Get(address.pointer);
    Affine varying = address.offset;
    varying.constant = 0;
    if (!varying.terms.empty()) pointer = Offset(address.pointer, pointer, ValueOf(varying));
    if (address.offset.constant == 0) return pointer;
    return Offset(address.pointer, pointer, ir_.getInt64(static_cast<uint64_t>(address.offset.constant)));
  }
  Value* Offset(VarId pointer, Value* base, Value* elements) {
    return ir_.CreateInBoundsGEP(ElementType(VarOf(pointer).dtype, ir_.getContext()), base, elements);
  }

  llvm::Align AlignOf(VarId id) const { return llvm::Align(static_cast<uint64_t>(Bytes(VarOf(id).dtype))); }

  // The mask that is true in the first `count` lanes.
  llvm::Constant* FirstLanes(int lanes, int count) {
    std::vector<llvm::Constant*> bits;
    for (int lane = 0; lane < lanes; ++lane) bits.push_back(ir_.getInt1(lane < count));
    return llvm::ConstantVector::get(bits);
  }

  void PrintBlock(const std::vector<Stmt>& block) {
    for (const Stmt& stmt : block) std::visit([this](const auto& op) { Print(op); }, stmt.op);
  }

  void Print(const Zero& op) { Set(op.to, llvm::Constant::getNullValue(VectorTypeOf(op.to))); }

  void Print(const Load& op) {
    llvm::FixedVectorType* type = VectorTypeOf(op.to);
    Value* from = ValueOf(op.from);
    if (op.count == VarOf(op.to).lanes) return Set(op.to, ir_.CreateAlignedLoad(type, from, AlignOf(op.to)));
    Set(op.to, ir_.CreateMaskedLoad(type, from, AlignOf(op.to), FirstLanes(VarOf(op.to).lanes, op.count),
                                    llvm::Constant::getNullValue(type)));
  }

  void Print(const Broadcast& op) {
    Value* element =
        ir_.CreateAlignedLoad(VectorTypeOf(op.to)->getElementType(), ValueOf(op.from), AlignOf(op.to));
    Set(op.to, ir_.CreateVectorSplat(static_cast<unsigned>(VarOf(op.to).lanes), element));
  }

  void Print(const Store& op) {
    Value* value = Get(op.from);
    Value* to = ValueOf(op.to);
    if (op.count == VarOf(op.from).lanes) {
      ir_.CreateAlignedStore(value, to, AlignOf(op.from));
    } else {
      ir_.CreateMaskedStore(value, to, AlignOf(op.from), FirstLanes(VarOf(op.from).lanes, op.count));
    }
  }

  void Print(const Fma& op) {
    Set(op.accumulator, ir_.CreateIntrinsic(llvm::Intrinsic::fma, {VectorTypeOf(op.accumulator)},
                                            {Get(op.a), Get(op.b), Get(op.accumulator)}));
  }

  void Print(const Add& op) { Set(op.to, ir_.CreateFAdd(Get(op.a), Get(op.b))); }

  // Halves of each vector are added until 4 lanes are left; then two horizontal additions sum all four.
  void Print(const LaneSums& op) {
    std::vector<Value*> quads;
    for (VarId from : op.from) {
      if (from == kNoVar) {
        quads.push_back(llvm::Constant::getNullValue(VectorTypeOf(op.to)));
        continue;
      }
      Value* value = Get(from);
      for (int lanes = VarOf(from).lanes; lanes > 4; lanes /= 2)
        value = ir_.CreateFAdd(Lanes(value, 0, lanes / 2), Lanes(value, lanes / 2, lanes / 2));
      quads.push_back(value);
    }
    Set(op.to, PairSums(PairSums(quads[0], quads[1]), PairSums(quads[2], quads[3])));
  }
  Value* Lanes(Value* value, int first, int count) {
    llvm::SmallVector<int> lanes;
    for (int lane = 0; lane < count; ++lane) lanes.push_back(first + lane);
    return ir_.CreateShuffleVector(value, lanes);
  }
  Value* PairSums(Value* a, Value* b) {
    return ir_.CreateFAdd(ir_.CreateShuffleVector(a, b, {0, 2, 4, 6}),
                          ir_.CreateShuffleVector(a, b, {1, 3, 5, 7}));
  }

  void Print(const Transpose& op) {
    std::array<Value*, 4> row;
    for (size_t i = 0; i < 4; ++i) row[i] = Get(op.rows[i]);
    Value* low01 = ir_.CreateShuffleVector(row[0], row[1], {0, 4, 1, 5});
    Value* high01 = ir_.CreateShuffleVector(row[0], row[1], {2, 6, 3, 7});
    Value* low23 = ir_.CreateShuffleVector(row[2], row[3], {0, 4, 1, 5});
    Value* high23 = ir_.CreateShuffleVector(row[2], row[3], {2, 6, 3, 7});
    Set(op.rows[0], ir_.CreateShuffleVector(low01, low23, {0, 1, 4, 5}));
    Set(op.rows[1], ir_.CreateShuffleVector(low01, low23, {2, 3, 6, 7}));
    Set(op.rows[2], ir_.CreateShuffleVector(high01, high23, {0, 1, 4, 5}));
    Set(op.rows[3], ir_.CreateShuffleVector(high01, high23, {2, 3, 6, 7}));
  }

  void Print(const Fence&) {
    auto* type = llvm::FunctionType::get(ir_.getVoidTy(), false);
    ir_.CreateCall(type, llvm::InlineAsm::get(type, "", "~{memory}", true));
  }

  void Print(const Prefetch& op) {
    constexpr uint32_t kRead = 0, kIntoL1 = 3, kData = 1;
    ir_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
                        {ValueOf(op.at), ir_.getInt32(kRead), ir_.getInt32(kIntoL1), ir_.getInt32(kData)});
  }

  void Print(const Advance& op) {
    Set(op.pointer, Offset(op.pointer, Get(op.pointer), ir_.getInt64(static_cast<uint64_t>(op.by))));
  }

  void Print(const Call& op) {
    std::vector<Value*> arguments;
    for (const Address& pointer : op.pointers) arguments.push_back(ValueOf(pointer));
    for (int64_t count : op.counts) arguments.push_back(ir_.getInt64(static_cast<uint64_t>(count)));
    ir_.CreateCall(callees_[static_cast<size_t>(op.procedure)], arguments);
  }

  void Print(const For& op) {
    llvm::BasicBlock* head = NewBlock("head");
    llvm::BasicBlock* body = NewBlock("body");
    llvm::BasicBlock* exit = NewBlock("exit");
    Set(op.index, ir_.getInt64(0));
    Value* count = ValueOf(op.count);
    if (op.count.terms.empty()) {
      ir_.CreateBr(body);
    } else {
      ir_.CreateBr(head);
      ir_.SetInsertPoint(head);
      ir_.CreateCondBr(ir_.CreateICmpNE(count, ir_.getInt64(0)), body, exit);
    }
    if (op.count.terms.empty()) head->eraseFromParent();
    ir_.SetInsertPoint(body);
    PrintBlock(op.body);
    Value* next = ir_.CreateAdd(Get(op.index), ir_.getInt64(1), "", true, true);
    Set(op.index, next);
    ir_.CreateCondBr(ir_.CreateICmpNE(next, count), body, exit);
    ir_.SetInsertPoint(exit);
  }

  void Print(const OnThread& op) {
    llvm::BasicBlock* body = NewBlock("mine");
    llvm::BasicBlock* exit = NewBlock("others");
    Value* owner = ir_.CreateURem(ValueOf(op.task), Get(EntryParameter::kThreads));
    ir_.CreateCondBr(ir_.CreateICmpEQ(owner, Get(EntryParameter::kThread)), body, exit);
    ir_.SetInsertPoint(body);
    PrintBlock(op.body);
    ir_.CreateBr(exit);
    ir_.SetInsertPoint(exit);
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }

  const Procedure& procedure_;
  llvm::Function* function_;
  const std::vector<llvm::Function*>& callees_;
  llvm::IRBuilder<> ir_;
  std::vector<llvm::AllocaInst*> slots_;
};

// Declares a procedure; `argument_of[i]` is the position of parameter i in the function's type.
llvm::Function* Declare(const Procedure& procedure, const std::vector<int>& argument_of, bool entry,
                        llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  const size_t count = static_cast<size_t>(procedure.num_parameters);
  std::vector<llvm::Type*> types(count);
  for (size_t i = 0; i < count; ++i)
    types[static_cast<size_t>(argument_of[i])] =
        procedure.vars[i].type == VarType::kPointer
            ? static_cast<llvm::Type*>(llvm::PointerType::get(context, 0))
            : llvm::Type::getInt64Ty(context);
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
      entry ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage, procedure.name, module);
  for (size_t i = 0; i < count; ++i) {
    const unsigned argument = static_cast<unsigned>(argument_of[i]);
    function->getArg(argument)->setName(procedure.vars[i].name);
    if (procedure.vars[i].type != VarType::kPointer) continue;
    function->addParamAttr(argument, llvm::Attribute::NoAlias);
    function->addParamAttr(argument, llvm::Attribute::NoCapture);
    if (!procedure.vars[i].stored) function->addParamAttr(argument, llvm::Attribute::ReadOnly);
  }
  return function;
}

void AddAttributes(const LoopProgram& program, const Target& target, llvm::Function* function) {
  // The baseline CPU plus exactly the features the program may use, tuned for the target's CPU.
  function->addFnAttr("target-cpu", "x86-64");
  function->addFnAttr("tune-cpu", target.cpu);
  function->addFnAttr("target-features", absl::StrCat("+", absl::StrJoin(program.features, ",+")));
  // Zmm registers are used wherever the program says so, whatever the CPU's preference is.
  function->addFnAttr("min-legal-vector-width", "512");
  function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr(llvm::Attribute::NoUnwind);
}

std::vector<int> ArgumentOrder(const Procedure& procedure, bool swapped) {
  std::vector<int> order;
  for (int i = 0; i < procedure.num_parameters; ++i) order.push_back(i);
  if (swapped) std::swap(order[EntryParameter::kLhs], order[EntryParameter::kRhs]);
  return order;
}

}  // namespace

std::unique_ptr<llvm::Module> PrintLlvm(const LoopProgram& program, const Target& target,
                                        const EmitOptions& options, llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(program.name, context);
  std::vector<llvm::Function*> functions;
  std::vector<std::vector<int>> orders;
  for (const Procedure& procedure : program.procedures) {
    const bool entry = functions.empty();
    orders.push_back(ArgumentOrder(procedure, entry && options.swapped));
    functions.push_back(Declare(procedure, orders.back(), entry, *module));
    AddAttributes(program, target, functions.back());
    // Windows wants to unwind through every function.
    if (options.abi == Abi::kWin64) functions.back()->setUWTableKind(llvm::UWTableKind::Default);
    // A procedure keeps its register tile to itself.
    if (!entry) functions.back()->addFnAttr(llvm::Attribute::NoInline);
  }
  functions[0]->addParamAttr(EntryParameter::kScratch,
                             llvm::Attribute::getWithAlignment(context, llvm::Align(kScratchAlignment)));
  for (size_t i = 0; i < functions.size(); ++i)
    BodyPrinter(program.procedures[i], functions[i], functions, orders[i]).Print();
  return module;
}

}  // namespace kirsch
