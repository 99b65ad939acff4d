// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/llvm_printer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "codegen/c/c_signature.h"
#include "codegen/llvm/array_caller.h"
#include "codegen/llvm/llvm_vectors.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using llvm::Value;

constexpr uint64_t kScratchAlignment = 64;
constexpr int kNoArgument = -1;  // of a parameter that the procedure does not use

// Prints the body of one procedure. Every variable is a stack slot, which mem2reg turns into SSA values. So a
// statement reads slots, computes, and writes a slot, and no phi is built by hand.
class BodyPrinter {
 public:
  // `argument_of`: of each parameter, its position among the function's arguments, or kNoArgument. Slots are
  // made for all variables first; then arguments and arrays are put into theirs.
  BodyPrinter(const LoopProgram& program, const Procedure& procedure, llvm::Function* function,
              const std::vector<llvm::Function*>& callees, const std::vector<int>& argument_of)
      : program_(program),
        procedure_(procedure),
        function_(function),
        callees_(callees),
        ir_(function->getContext()),
        vectors_(program, ir_) {
    ir_.SetInsertPoint(llvm::BasicBlock::Create(ir_.getContext(), "", function_));
    for (const Var& var : procedure.vars) slots_.push_back(ir_.CreateAlloca(TypeOf(var), nullptr, var.name));
    for (int i = 0; i < procedure.num_parameters; ++i)
      if (const int argument = argument_of[static_cast<size_t>(i)]; argument != kNoArgument)
        Set(i, function_->getArg(static_cast<unsigned>(argument)));
    for (size_t i = 0; i < procedure.vars.size(); ++i)
      if (procedure.vars[i].elements != 0) Set(static_cast<VarId>(i), ArrayOf(procedure.vars[i]));
  }

  void Print() {
    PrintBlock(procedure_.body);
    ir_.CreateRetVoid();
  }

 private:
  const Var& VarOf(VarId id) const { return procedure_.vars[static_cast<size_t>(id)]; }
  // The type of a variable's slot. Pointers have no types of their own: accesses say what they read.
  llvm::Type* TypeOf(const Var& var) {
    switch (var.type) {
      case VarType::kPointer:
        return ir_.getPtrTy();
      case VarType::kIndex:
        return ir_.getInt64Ty();
      case VarType::kVector:
        return VectorType(var, ir_.getContext());
    }
    KIRSCH_BUG("unknown variable type");
  }
  // Arrays are aligned to their vectors.
  Value* ArrayOf(const Var& var) {
    llvm::Type* const element = ElementType(var.dtype, ir_.getContext());
    llvm::AllocaInst* const array =
        ir_.CreateAlloca(llvm::ArrayType::get(element, static_cast<uint64_t>(var.elements)));
    array->setAlignment(llvm::Align(static_cast<uint64_t>(var.lanes * Bytes(var.dtype))));
    return array;
  }
  Value* Get(VarId id) { return ir_.CreateLoad(TypeOf(VarOf(id)), slots_[static_cast<size_t>(id)]); }
  void Set(VarId id, Value* value) { ir_.CreateStore(value, slots_[static_cast<size_t>(id)]); }

  // Sums and products do not wrap: offsets and counts are far from the ends of 64 bits. The flags say so.
  Value* EmitValue(const Affine& affine) {
    Value* sum = nullptr;
    for (const Affine::Term& term : affine.terms) {
      Value* product = Get(term.index);
      if (term.times != kNoVar) product = ir_.CreateMul(product, Get(term.times), "", true, true);
      if (term.coefficient != 1)
        product =
            ir_.CreateMul(product, ir_.getInt64(static_cast<uint64_t>(term.coefficient)), "", true, true);
      sum = sum == nullptr ? product : ir_.CreateAdd(sum, product, "", true, true);
    }
    Value* constant = ir_.getInt64(static_cast<uint64_t>(affine.constant));
    if (sum == nullptr) return constant;
    return affine.constant == 0 ? sum : ir_.CreateAdd(sum, constant, "", true, true);
  }

  Value* EmitValue(const Address& address) { return EmitValue(address, VarOf(address.pointer).dtype); }
  // The offset counts elements of type `dtype`. Indices come first and the constant last, so that it can
  // become the displacement of the access.
  Value* EmitValue(const Address& address, Dtype dtype) {
    Value* pointer = Get(address.pointer);
    Affine varying = address.offset;
    varying.constant = 0;
    if (!varying.terms.empty()) pointer = Offset(dtype, pointer, EmitValue(varying));
    if (address.offset.constant == 0) return pointer;
    return Offset(dtype, pointer, ir_.getInt64(static_cast<uint64_t>(address.offset.constant)));
  }
  Value* Offset(Dtype dtype, Value* base, Value* elements) {
    return ir_.CreateInBoundsGEP(ElementType(dtype, ir_.getContext()), base, elements);
  }
  Dtype MemoryType(const Address& address) const { return VarOf(address.pointer).dtype; }
  LlvmCount EmitCount(const LaneCount& count) {
    return {count.most, count.index == kNoVar ? nullptr : Get(count.index)};
  }

  // Statements are printed where ir_ stands; those with a body move it to the block behind them.
  void PrintBlock(const std::vector<Stmt>& block) {
    for (const Stmt& stmt : block) std::visit([this](const auto& op) { Print(op); }, stmt.op);
  }

  void Print(const Zero& op) { Set(op.to, llvm::Constant::getNullValue(TypeOf(VarOf(op.to)))); }

  void Print(const Load& op) {
    Set(op.to, vectors_.Load(VarOf(op.to), EmitValue(op.from), op.as.value_or(MemoryType(op.from)),
                             EmitCount(op.count)));
  }

  void Print(const Broadcast& op) {
    Set(op.to,
        vectors_.Broadcast(VarOf(op.to), EmitValue(op.from), op.as.value_or(MemoryType(op.from)), op.count));
  }

  void Print(const Store& op) {
    Value* value = Get(op.from);
    if (op.streams) return Stream(value, EmitValue(op.to), Bytes(VarOf(op.from).dtype) * op.count.most);
    vectors_.Store(VarOf(op.from), value, EmitValue(op.to), op.as.value_or(MemoryType(op.to)),
                   EmitCount(op.count));
  }

  void Print(const MultiplyAdd& op) {
    Value *a = Get(op.a), *b = Get(op.b);
    Set(op.accumulator, vectors_.MultiplyAdd(VarOf(op.a), VarOf(op.b), Get(op.accumulator), a, b));
  }

  void Print(const Binary& op) {
    Value *a = Get(op.a), *b = Get(op.b);
    Set(op.to, vectors_.Binary(op.op, a, b));
  }

  // The code generator finds the one instruction that negates, too.
  void Print(const Fma& op) {
    Value *a = Get(op.a), *b = Get(op.b), *c = Get(op.c);
    if (op.sign == FmaSign::kNegate) a = ir_.CreateFNeg(a);
    if (op.sign == FmaSign::kSubtract) c = ir_.CreateFNeg(c);
    Set(op.to, vectors_.Fma(a, b, c));
  }
  void Print(const SquareRoot& op) {
    Set(op.to, ir_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, Get(op.from)));
  }
  void Print(const RoundToInteger& op) {
    constexpr std::array<llvm::Intrinsic::ID, 3> kIntrinsics = {
        llvm::Intrinsic::roundeven, llvm::Intrinsic::floor, llvm::Intrinsic::ceil};
    Set(op.to, ir_.CreateUnaryIntrinsic(kIntrinsics[static_cast<size_t>(op.rounding)], Get(op.from)));
  }
  void Print(const Scale& op) {
    Value *a = Get(op.a), *exponent = Get(op.exponent);
    Set(op.to, vectors_.Scale(a, exponent));
  }
  void Print(const BroadcastPower& op) {
    Set(op.to, vectors_.BroadcastPower(VarOf(op.to), EmitValue(op.from)));
  }
  void Print(const LoadNibbles& op) { Set(op.to, vectors_.LoadNibbles(VarOf(op.to), EmitValue(op.from))); }
  void Print(const Lookup& op) { Set(op.to, vectors_.Lookup(Get(op.from), op.table)); }
  void Print(const FillBytes& op) { Set(op.to, vectors_.FillBytes(op.bytes)); }
  void Print(const LookupPair& op) {
    Set(op.to, vectors_.LookupPair(Get(op.from), Get(op.first), Get(op.second)));
  }
  void Print(const Unpack& op) {
    Set(op.to, vectors_.Unpack(VarOf(op.to), Get(op.low), Get(op.high), op.second));
  }
  void Print(const ForUnpacking& op) {
    Set(op.to, vectors_.ForUnpacking(VarOf(op.to), Get(op.from), op.times));
  }
  // Zeros come in, from either side.
  void Print(const Shift& op) {
    llvm::Type* const type = TypeOf(VarOf(op.to));
    Value* from = Get(op.from);
    if (type->isFPOrFPVectorTy())
      from = ir_.CreateBitCast(from, llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(type)));
    Value* const shifted = op.left >= 0 ? ir_.CreateShl(from, static_cast<uint64_t>(op.left))
                                        : ir_.CreateLShr(from, static_cast<uint64_t>(-op.left));
    Set(op.to, ir_.CreateBitCast(shifted, type));
  }
  void Print(const Bits& op) { Set(op.to, ir_.CreateBitCast(Get(op.from), TypeOf(VarOf(op.to)))); }
  // Ordered comparisons: false for NaNs, so that b is taken.
  void Print(const Select& op) {
    constexpr std::array<llvm::CmpInst::Predicate, 3> kPredicates = {
        llvm::CmpInst::FCMP_OLT, llvm::CmpInst::FCMP_OLE, llvm::CmpInst::FCMP_OEQ};
    Value *x = Get(op.x), *y = Get(op.y), *a = Get(op.a), *b = Get(op.b);
    Set(op.to, ir_.CreateSelect(ir_.CreateFCmp(kPredicates[static_cast<size_t>(op.comparison)], x, y), a, b));
  }
  void Print(const FirstLanes& op) {
    Value *a = Get(op.a), *b = Get(op.b);
    Set(op.to, vectors_.FirstOf(a, b, EmitCount(op.count)));
  }
  void Print(const Across& op) { Set(op.to, vectors_.Across(op.op, Get(op.from))); }

  void Print(const Fill& op) { Set(op.to, vectors_.Fill(VarOf(op.to), op.word)); }
  void Print(const FillIndex& op) {
    Value* const first = ir_.CreateSIToFP(EmitValue(op.first), ir_.getFloatTy());
    Set(op.to, vectors_.FillIndex(VarOf(op.to), first, op.ascending));
  }
  void Print(const Convert& op) { Set(op.to, vectors_.Convert(VarOf(op.to), Get(op.from))); }

  // Returns null where there is no variable, or a zero of type `none`, if that is given.
  std::array<Value*, 4> GetAll(const std::array<VarId, 4>& ids, llvm::Type* none = nullptr) {
    std::array<Value*, 4> values = {};
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != kNoVar) values[i] = Get(ids[i]);
      if (ids[i] == kNoVar && none != nullptr) values[i] = llvm::Constant::getNullValue(none);
    }
    return values;
  }

  void Print(const LaneSums& op) {
    Set(op.to, vectors_.LaneSums(GetAll(op.from, TypeOf(VarOf(op.from[0])))));
  }

  void Print(const Transpose& op) {
    std::array<Value*, 4> rows = GetAll(op.rows);
    vectors_.Transpose(&rows);
    for (size_t i = 0; i < rows.size() && op.rows[i] != kNoVar; ++i) Set(op.rows[i], rows[i]);
  }

  void Print(const TransposeParts& op) {
    std::array<Value*, 4> rows = GetAll(op.rows);
    vectors_.TransposeParts(&rows);
    for (size_t i = 0; i < rows.size() && op.rows[i] != kNoVar; ++i) Set(op.rows[i], rows[i]);
  }

  void Print(const Interleave& op) { Set(op.to, vectors_.Interleave(VarOf(op.to), GetAll(op.from))); }

  // Both are read before either is written.
  void Print(const GroupLane& op) { Set(op.to, vectors_.GroupLane(Get(op.from), op.group, op.lane)); }
  void Print(const Deinterleave& op) {
    Value *a = Get(op.even), *b = Get(op.odd);
    Set(op.even, vectors_.EverySecond(a, b, 0));
    Set(op.odd, vectors_.EverySecond(a, b, 1));
  }

  void Print(const SplitPairs& op) {
    Value* from = Get(op.from);
    Set(op.even, vectors_.Half(from, 0));
    Set(op.odd, vectors_.Half(from, 1));
  }

  // An empty asm statement that may touch any memory: no load moves across it.
  void Print(const Fence&) {
    auto* type = llvm::FunctionType::get(ir_.getVoidTy(), false);
    ir_.CreateCall(type, llvm::InlineAsm::get(type, "", "~{memory}", true));
  }

  // An empty asm statement that reads the vector, in any vector register.
  void Print(const Keep& op) {
    auto* type = llvm::FunctionType::get(ir_.getVoidTy(), {TypeOf(VarOf(op.vector))}, false);
    ir_.CreateCall(type, llvm::InlineAsm::get(type, "", "v", true), {Get(op.vector)});
  }

  void Print(const Prefetch& op) {
    constexpr uint32_t kRead = 0, kIntoL1 = 3, kIntoL2 = 2, kData = 1;
    ir_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
                        {EmitValue(op.at), ir_.getInt32(kRead), ir_.getInt32(op.into_l2 ? kIntoL2 : kIntoL1),
                         ir_.getInt32(kData)});
  }

  // A store with LLVM's mark for memory that is not read again soon. It needs a whole vector at an aligned
  // address.
  void Stream(Value* value, Value* to, int bytes) {
    llvm::StoreInst* store = ir_.CreateAlignedStore(value, to, llvm::Align(static_cast<uint64_t>(bytes)));
    llvm::Metadata* const one = llvm::ConstantAsMetadata::get(ir_.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(ir_.getContext(), one));
  }

  // The configuration is a constant of the module.
  void Print(const TileConfigure& op) {
    const auto configuration = TileConfigurationBytes(op.rows);
    llvm::Constant* const bytes =
        llvm::ConstantDataArray::get(ir_.getContext(), llvm::ArrayRef<uint8_t>(configuration));
    auto* const place = new llvm::GlobalVariable(*function_->getParent(), bytes->getType(), true,
                                                 llvm::GlobalValue::PrivateLinkage, bytes, "tiles");
    place->setAlignment(llvm::Align(static_cast<uint64_t>(kLineBytes)));
    ir_.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {place});
  }
  void Print(const TileRelease&) { ir_.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {}); }
  void Print(const TileZero& op) {
    ir_.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {TileNumber(op.tile)});
  }
  void Print(const TileLoad& op) {
    Value* from = EmitValue(op.from);
    ir_.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {},
                        {TileNumber(op.tile), from, BytesOf(op.stride, op.from)});
  }
  void Print(const TileStore& op) {
    Value* to = EmitValue(op.to);
    ir_.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {},
                        {TileNumber(op.tile), to, BytesOf(op.stride, op.to)});
  }
  // The table has the intrinsic's name; it must be one that LLVM knows.
  void Print(const TileMultiplyAdd& op) {
    const TileEncoding& encoding = Info(op.arithmetic).tiles;
    const std::string_view name = op.exchanged ? encoding.exchanged_llvm : encoding.llvm;
    const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID({name.data(), name.size()});
    KIRSCH_CHECK(id != llvm::Intrinsic::not_intrinsic);
    ir_.CreateIntrinsic(id, {}, {TileNumber(op.accumulator), TileNumber(op.lhs), TileNumber(op.rhs)});
  }
  // Intrinsics of tiles take numbers of registers, so nobody allocates these.
  Value* TileNumber(int tile) { return ir_.getInt8(static_cast<uint8_t>(tile)); }
  // Distances between rows of tiles are in bytes.
  Value* BytesOf(const Affine& elements, const Address& address) {
    return EmitValue(Times(elements, Bytes(MemoryType(address))));
  }
  // The bytes to the next line are the negative address modulo 64.
  void Print(const ToLine& op) {
    Value* const address = ir_.CreatePtrToInt(Get(op.pointer), ir_.getInt64Ty());
    Value* const bytes = ir_.CreateAnd(ir_.CreateNeg(address), ir_.getInt64(kLineBytes - 1));
    Set(op.index, ir_.CreateUDiv(bytes, ir_.getInt64(static_cast<uint64_t>(Bytes(Dtype::kF32)))));
  }

  void Print(const Drain&) { ir_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {}); }

  void Print(const Advance& op) {
    Set(op.pointer, Offset(VarOf(op.pointer).dtype, Get(op.pointer), EmitValue(op.by)));
  }

  // Offsets count elements of the callee's type; pointers themselves have none in LLVM.
  void Print(const Call& op) {
    const Procedure& callee = program_.procedures[static_cast<size_t>(op.procedure)];
    std::vector<Value*> arguments;
    for (const Address& pointer : op.pointers)
      arguments.push_back(EmitValue(pointer, callee.vars[arguments.size()].dtype));
    for (const Affine& count : op.counts) arguments.push_back(EmitValue(count));
    ir_.CreateCall(callees_[static_cast<size_t>(op.procedure)], arguments);
  }

  // So much is set aside before the division, but not more than there is: the subtraction stops at 0.
  void Print(const Divide& op) {
    Value *of = EmitValue(op.of), *by = ir_.getInt64(static_cast<uint64_t>(op.by));
    if (op.min_tail == 0) return Set(op.index, op.left ? ir_.CreateURem(of, by) : ir_.CreateUDiv(of, by));
    Value* const min_tail = ir_.getInt64(static_cast<uint64_t>(op.min_tail));
    Value* const more = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, of, min_tail);
    Value* const whole = ir_.CreateUDiv(more, by);
    Set(op.index, op.left ? ir_.CreateSub(of, ir_.CreateMul(whole, by)) : whole);
  }

  void Print(const LoadIndex& op) {
    namespace Id = llvm::Intrinsic;
    Value* const loaded =
        ir_.CreateSExt(ir_.CreateLoad(ir_.getInt32Ty(), EmitValue(op.from)), ir_.getInt64Ty());
    Value* const last = ir_.getInt64(static_cast<uint64_t>(op.below - 1));
    Set(op.index, ir_.CreateBinaryIntrinsic(
                      Id::smin, ir_.CreateBinaryIntrinsic(Id::smax, loaded, ir_.getInt64(0)), last));
  }

  void Print(const IfAny& op) { PrintIf(ir_.CreateICmpNE(Get(op.index), ir_.getInt64(0)), op.body); }

  // Values without a case go on behind it.
  void Print(const Switch& op) {
    llvm::BasicBlock* exit = NewBlock("chosen");
    llvm::SwitchInst* chosen = ir_.CreateSwitch(Get(op.index), exit, static_cast<unsigned>(op.bodies.size()));
    uint64_t value = static_cast<uint64_t>(op.least);
    for (const std::vector<Stmt>& block : op.bodies) {
      llvm::BasicBlock* body = NewBlock("case");
      chosen->addCase(ir_.getInt64(value++), body);
      ir_.SetInsertPoint(body);
      PrintBlock(block);
      ir_.CreateBr(exit);
    }
    ir_.SetInsertPoint(exit);
  }

  // The condition is at the loop's end. A count that may be 0 is asked for once, before the loop:
  //   head: count != 0 ? body : exit
  //   body: ..., index + 1 != count ? body : exit
  // A constant count is not 0 (ProcedureBuilder::Loop), so it needs no head.
  void Print(const For& op) {
    llvm::BasicBlock* head = NewBlock("head");
    llvm::BasicBlock* body = NewBlock("body");
    llvm::BasicBlock* exit = NewBlock("exit");
    Set(op.index, ir_.getInt64(0));
    Value* count = EmitValue(op.count);
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

  void Print(const OnThread& op) { PrintIf(IsMine(EmitValue(op.task)), op.body); }
  // Goes from the first block that begins at or behind the first wanted column, so the division rounds up. It
  // ends with the last block that there is, or with the last one that begins before the end of the wanted
  // columns.
  void Print(const ForBlocks& op) {
    llvm::BasicBlock* head = NewBlock("head");
    llvm::BasicBlock* body = NewBlock("body");
    llvm::BasicBlock* exit = NewBlock("exit");
    Value *first = Get(program_.thread()), *end = Get(program_.threads());
    Value* block = ir_.getInt64(static_cast<uint64_t>(program_.block));
    Value* begun = ir_.CreateICmpNE(ir_.CreateURem(first, block), ir_.getInt64(0));
    Set(op.index, ir_.CreateAdd(ir_.CreateUDiv(first, block), ir_.CreateZExt(begun, ir_.getInt64Ty())));
    ir_.CreateBr(head);
    ir_.SetInsertPoint(head);
    // Another block: there is one, and it begins among the wanted columns.
    Value* known = ir_.CreateICmpULT(Get(op.index), ir_.getInt64(static_cast<uint64_t>(op.count)));
    Value* wanted = ir_.CreateICmpULT(ir_.CreateMul(Get(op.index), block), end);
    ir_.CreateCondBr(ir_.CreateAnd(known, wanted), body, exit);
    ir_.SetInsertPoint(body);
    PrintBlock(op.body);
    Set(op.index, ir_.CreateAdd(Get(op.index), ir_.getInt64(1), "", true, true));
    ir_.CreateBr(head);
    ir_.SetInsertPoint(exit);
  }
  void Print(const InPhase& op) {
    const auto phase = static_cast<uint64_t>(op.phase);
    PrintIf(ir_.CreateICmpEQ(Get(program_.phase()), ir_.getInt64(phase)), op.body);
  }

  void PrintIf(Value* condition, const std::vector<Stmt>& block) {
    llvm::BasicBlock* body = NewBlock("mine");
    llvm::BasicBlock* exit = NewBlock("others");
    ir_.CreateCondBr(condition, body, exit);
    ir_.SetInsertPoint(body);
    PrintBlock(block);
    ir_.CreateBr(exit);
    ir_.SetInsertPoint(exit);
  }

  // The task's thread is task % n_threads. Of blocks, the task is wanted if its first column is.
  Value* IsMine(Value* task) {
    Value *thread = Get(program_.thread()), *threads = Get(program_.threads());
    if (program_.block == 0) return ir_.CreateICmpEQ(ir_.CreateURem(task, threads), thread);
    Value* column = ir_.CreateMul(task, ir_.getInt64(static_cast<uint64_t>(program_.block)));
    return ir_.CreateAnd(ir_.CreateICmpUGE(column, thread), ir_.CreateICmpULT(column, threads));
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }

  const LoopProgram& program_;
  const Procedure& procedure_;
  llvm::Function* function_;
  const std::vector<llvm::Function*>& callees_;
  llvm::IRBuilder<> ir_;
  LlvmVectors vectors_;
  std::vector<llvm::AllocaInst*> slots_;
};

// Declares a procedure, which is external if it has a `public_name`. `argument_of[i]` is the position of
// parameter i in the function's type. Its attributes say what loads and stores may be moved past each other:
// pointers do not alias unless the procedure says so, and those that it never stores through are read-only.
llvm::Function* Declare(const Procedure& procedure, const std::vector<int>& argument_of,
                        const std::string& public_name, llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  const size_t count = argument_of.size();
  std::vector<llvm::Type*> types(count - static_cast<size_t>(std::ranges::count(argument_of, kNoArgument)));
  for (size_t i = 0; i < count; ++i)
    if (argument_of[i] != kNoArgument)
      types[static_cast<size_t>(argument_of[i])] =
          procedure.vars[i].type == VarType::kPointer
              ? static_cast<llvm::Type*>(llvm::PointerType::get(context, 0))
              : llvm::Type::getInt64Ty(context);
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
      public_name.empty() ? llvm::Function::InternalLinkage : llvm::Function::ExternalLinkage,
      public_name.empty() ? procedure.name : public_name, module);
  for (size_t i = 0; i < count; ++i) {
    if (argument_of[i] == kNoArgument) continue;
    const unsigned argument = static_cast<unsigned>(argument_of[i]);
    function->getArg(argument)->setName(procedure.vars[i].name);
    if (procedure.vars[i].type != VarType::kPointer) continue;
    if (!procedure.vars[i].may_alias) function->addParamAttr(argument, llvm::Attribute::NoAlias);
    function->addParamAttr(argument, llvm::Attribute::NoCapture);
    if (!procedure.vars[i].stored) function->addParamAttr(argument, llvm::Attribute::ReadOnly);
  }
  return function;
}

// Programs of a module may need different features, so all this is by function.
void AddAttributes(const LoopProgram& program, const Target& target, llvm::Function* function) {
  // The baseline CPU plus exactly the features the program may use, tuned for the target's CPU.
  function->addFnAttr("target-cpu", "x86-64");
  function->addFnAttr("tune-cpu", target.cpu);
  function->addFnAttr("target-features", Cat("+", Join(program.features, ",+")));
  // Zmm registers are used wherever the program says so, whatever the CPU's preference is.
  function->addFnAttr("min-legal-vector-width", "512");
  function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr(llvm::Attribute::NoUnwind);
}

// Returns the name by which other files call a procedure; empty: none does.
std::string PublicName(const LoopProgram& program, size_t procedure, const PublicNames& names) {
  if (procedure == 0) return names.entry;
  const bool packs = program.packing && program.packing->procedure == static_cast<int>(procedure);
  return packs ? names.pack : "";
}

// Returns the entry's parameters in the order of the public function's: see CParameters in c_signature.h.
// Both have to agree, as callers compile against the header.
std::vector<VarId> EntryOrder(const LoopProgram& program, const EmitOptions& options) {
  std::vector<VarId> order(program.tensors.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t size = 0; size < program.sizes.size(); ++size)
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(size), program.run_time_size(size));
  if (program.TakesScratch() || options.uniform) order.push_back(program.scratch());
  if (program.TakesThreads() || options.uniform) {
    order.push_back(program.thread());
    order.push_back(program.threads());
  }
  if (program.TakesPhases()) {
    order.push_back(program.shared());
    order.push_back(program.phase());
  }
  return order;
}

// Returns the position of each parameter in the function's type. Only the entry has an order of its own, and
// parameters that are left out.
std::vector<int> ArgumentsOf(const LoopProgram& program, size_t procedure, const EmitOptions& options) {
  std::vector<int> argument_of(static_cast<size_t>(program.procedures[procedure].num_parameters));
  std::iota(argument_of.begin(), argument_of.end(), 0);
  if (procedure > 0) return argument_of;
  std::ranges::fill(argument_of, kNoArgument);
  const std::vector<VarId> order = EntryOrder(program, options);
  for (size_t i = 0; i < order.size(); ++i) argument_of[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return argument_of;
}

}  // namespace

llvm::Function* AddProgram(const LoopProgram& program, const Target& target, const EmitOptions& options,
                           const PublicNames& names, llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  std::vector<std::vector<int>> orders;
  // Declares the functions. LLVM puts a number behind a name that is taken, as other programs of the module
  // may have procedures of the same names.
  for (const Procedure& procedure : program.procedures) {
    const std::string name = PublicName(program, functions.size(), names);
    const bool public_entry = functions.empty() && !name.empty();
    orders.push_back(ArgumentsOf(program, functions.size(), options));
    functions.push_back(Declare(procedure, orders.back(), name, module));
    AddAttributes(program, target, functions.back());
    // Windows wants to unwind through every function.
    if (options.abi == Abi::kWin64) functions.back()->setUWTableKind(llvm::UWTableKind::Default);
    // A procedure keeps its register tile to itself; nor is a choice of kernels the place for their code.
    if (!public_entry) functions.back()->addFnAttr(llvm::Attribute::NoInline);
  }
  // Callers align scratch memory, so LLVM may know it.
  if (const int scratch = orders[0][static_cast<size_t>(program.scratch())]; scratch != kNoArgument)
    functions[0]->addParamAttr(
        static_cast<unsigned>(scratch),
        llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(kScratchAlignment)));
  // All functions are declared before any body: bodies call functions that come later.
  for (size_t i = 0; i < functions.size(); ++i)
    BodyPrinter(program, program.procedures[i], functions[i], functions, orders[i]).Print();
  return functions.front();
}

std::unique_ptr<llvm::Module> PrintLlvm(const LoopProgram& program, const Target& target,
                                        const EmitOptions& options, llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(program.name, context);
  AddProgram(program, target, options, {program.name, PackName(program)}, *module);
  if (!options.uniform) return module;
  if (program.tensors.size() + program.sizes.size() > kMostPassed)
    AddArrayCaller(module->getFunction(program.name));
  if (program.packing && program.packing->constants.size() + 1 > kMostPassed)
    AddArrayCaller(module->getFunction(PackName(program)));
  return module;
}

}  // namespace kirsch
