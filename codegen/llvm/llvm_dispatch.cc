// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/llvm_dispatch.h"

#include <vector>

#include "codegen/header/size_dispatch.h"
#include "codegen/llvm/llvm_printer.h"
#include "llvm/IR/IRBuilder.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using llvm::Value;

// The public function's arguments, in groups as the signature has them.
struct EntryArguments {
  std::vector<Value*> sizes, tensors, scratch, threads, phases;  // the last three: empty if it takes none
};

// Prints a choice for each varying size, one inside the other. All members that a kernel serves branch to one
// block, which has the kernel's call. The blocks, for one size that is compared:
//   choose:    m < 1 ? declined : others
//   others:    m > 64 ? declined : others1
//   others1:   m <= 16 ? range : others2
//   range:     to the call of the kernel for m <= 16
//   others2:   to the call of the other one
//   call:      is the call this thread's, in this phase? mine : done
//   mine:      the call, then to done
//   done:      return 1
//   declined:  return 0
class DispatchPrinter {
 public:
  DispatchPrinter(const HeaderFunction& function, llvm::Module& module)
      : function_(function),
        variant_(function.variants.front()),
        signature_(function.signature()),
        dispatch_(function, variant_),
        ir_(module.getContext()) {
    public_ = llvm::Function::Create(Type(), llvm::Function::ExternalLinkage, function.name, module);
    public_->addFnAttr(llvm::Attribute::NoUnwind);
    // The order is that of CParameters, with sizes before all else.
    auto next = public_->arg_begin();
    const auto take = [&](size_t count, std::vector<Value*>* arguments) {
      while (count-- > 0) arguments->push_back(next++);
    };
    take(function.sizes.size(), &arguments_.sizes);
    take(signature_.tensors.size(), &arguments_.tensors);
    take(signature_.scratch ? 1 : 0, &arguments_.scratch);
    take(signature_.threads ? 2 : 0, &arguments_.threads);
    take(signature_.phases ? 2 : 0, &arguments_.phases);
  }

  llvm::Function* function() const { return public_; }

  // `entries`: of the variant's programs. The first block of a function is its entry, so "choose" is made
  // first and filled last, when all that it branches to is there.
  void Print(const std::vector<llvm::Function*>& entries) {
    llvm::BasicBlock* const first = NewBlock("choose");
    declined_ = NewBlock("declined");
    PrintReturn(declined_, 0);
    for (size_t i = 0; i < entries.size(); ++i) calls_.push_back(PrintCall(i, entries[i]));
    PrintSwitch(first, 0, 0);
  }

 private:
  // The C type of the public function: all sizes and numbers are size_t.
  llvm::FunctionType* Type() {
    llvm::Type *const size = ir_.getInt64Ty(), *const pointer = ir_.getPtrTy();
    std::vector<llvm::Type*> types(function_.sizes.size(), size);
    types.insert(types.end(), signature_.tensors.size(), pointer);
    if (signature_.scratch) types.push_back(pointer);
    if (signature_.threads) types.insert(types.end(), {size, size});
    if (signature_.phases) types.insert(types.end(), {pointer, size});
    return llvm::FunctionType::get(ir_.getInt32Ty(), types, false);
  }

  // `member`: the one with the first values of this level's size and of those after it.
  void PrintSwitch(llvm::BasicBlock* block, size_t level, size_t member) {
    if (level == dispatch_.first_compared()) return PrintCompared(block, level, member);
    const std::vector<uint32_t>& values = dispatch_.SizeOf(level).values;
    ir_.SetInsertPoint(block);
    llvm::SwitchInst* const choice =
        ir_.CreateSwitch(ArgumentOf(level), declined_, static_cast<unsigned>(values.size()));
    // Sizes that are no value of the switch go to `declined`.
    for (size_t i = 0; i < values.size(); ++i) {
      llvm::BasicBlock* const chosen = NewBlock("size");
      choice->addCase(ir_.getInt64(values[i]), chosen);
      PrintSwitch(chosen, level + 1, member + i * dispatch_.levels()[level].stride);
    }
  }

  // Sizes that are out of range are refused before any range is looked for.
  void PrintCompared(llvm::BasicBlock* block, size_t level, size_t member) {
    for (size_t compared = level; compared < dispatch_.levels().size(); ++compared) {
      const std::vector<uint32_t>& values = dispatch_.SizeOf(compared).values;
      block = BranchIf(block, llvm::CmpInst::ICMP_ULT, compared, values.front(), declined_);
      block = BranchIf(block, llvm::CmpInst::ICMP_UGT, compared, values.back(), declined_);
    }
    PrintRanges(block, level, member);
  }

  void PrintRanges(llvm::BasicBlock* block, size_t level, size_t member) {
    if (level == dispatch_.levels().size()) {
      ir_.SetInsertPoint(block);
      ir_.CreateBr(calls_[variant_.number_of(member)]);
      return;
    }
    const std::vector<uint32_t>& values = dispatch_.SizeOf(level).values;
    for (const auto& [first, end] : dispatch_.RangesOf(level, member)) {
      const size_t next = member + first * dispatch_.levels()[level].stride;
      // The last range needs no comparison.
      if (end == values.size()) return PrintRanges(block, level + 1, next);
      llvm::BasicBlock* const range = NewBlock("range");
      block = BranchIf(block, llvm::CmpInst::ICMP_ULE, level, values[end - 1], range);
      PrintRanges(range, level + 1, next);
    }
  }

  // Branches to `then` if the size compares so with the value. Returns the block for all others.
  llvm::BasicBlock* BranchIf(llvm::BasicBlock* block, llvm::CmpInst::Predicate order, size_t level,
                             uint32_t value, llvm::BasicBlock* then) {
    llvm::BasicBlock* const others = NewBlock("others");
    ir_.SetInsertPoint(block);
    ir_.CreateCondBr(ir_.CreateICmp(order, ArgumentOf(level), ir_.getInt64(value)), then, others);
    return others;
  }

  Value* ArgumentOf(size_t level) const { return arguments_.sizes[dispatch_.levels()[level].size]; }

  // Returns a block that calls a program's entry. A kernel with a single task computes all of it whoever
  // calls, so only thread 0 calls it. One with a single phase is called in the first phase only.
  llvm::BasicBlock* PrintCall(size_t number, llvm::Function* entry) {
    const LoopProgram& program = variant_.programs[number];
    llvm::BasicBlock *const block = NewBlock("call"), *const call = NewBlock("mine"),
                            *const done = NewBlock("done");
    PrintReturn(done, 1);
    ir_.SetInsertPoint(block);
    // The condition is constant where the kernel takes all that the function does.
    Value* wanted = ir_.getTrue();
    const auto want_first = [&](Value* number) {
      wanted = ir_.CreateAnd(wanted, ir_.CreateICmpEQ(number, ir_.getInt64(0)));
    };
    if (signature_.threads && !program.TakesThreads()) want_first(arguments_.threads.front());
    if (signature_.phases && !program.TakesPhases()) want_first(arguments_.phases.back());
    ir_.CreateCondBr(wanted, call, done);
    ir_.SetInsertPoint(call);
    ir_.CreateCall(entry, ArgumentsOf(number));
    ir_.CreateBr(done);
    return block;
  }

  Value* PrintSum(const SizeSum& sum) {
    Value* value = arguments_.sizes[sum.sizes.front()];
    for (size_t i = 1; i < sum.sizes.size(); ++i)
      value = ir_.CreateAdd(value, arguments_.sizes[sum.sizes[i]]);
    return sum.plus > 0 ? ir_.CreateAdd(value, ir_.getInt64(sum.plus)) : value;
  }

  // A program takes its own sizes, and of the rest what its signature has.
  std::vector<Value*> ArgumentsOf(size_t number) {
    const LoopProgram& program = variant_.programs[number];
    std::vector<Value*> arguments;
    if (!variant_.sizes_of.empty())
      for (const SizeSum& sum : variant_.sizes_of[number]) arguments.push_back(PrintSum(sum));
    // In the order of the entry's parameters.
    const auto give = [&](bool taken, const std::vector<Value*>& some) {
      if (taken) arguments.insert(arguments.end(), some.begin(), some.end());
    };
    give(true, arguments_.tensors);
    give(program.TakesScratch(), arguments_.scratch);
    give(program.TakesThreads(), arguments_.threads);
    give(program.TakesPhases(), arguments_.phases);
    return arguments;
  }

  void PrintReturn(llvm::BasicBlock* block, uint32_t value) {
    ir_.SetInsertPoint(block);
    ir_.CreateRet(ir_.getInt32(value));
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, public_);
  }

  const HeaderFunction& function_;
  const HeaderVariant& variant_;
  const CSignature signature_;
  const SizeDispatch dispatch_;
  llvm::IRBuilder<> ir_;
  llvm::Function* public_ = nullptr;
  EntryArguments arguments_;
  llvm::BasicBlock* declined_ = nullptr;
  std::vector<llvm::BasicBlock*> calls_;  // of each program
};

}  // namespace

std::unique_ptr<llvm::Module> PrintLlvmDispatch(const HeaderFunction& function, Abi abi,
                                                llvm::LLVMContext& context) {
  auto module = std::make_unique<llvm::Module>(function.name, context);
  // Made first, as it takes the public name before any procedure does.
  DispatchPrinter dispatch(function, *module);
  if (abi == Abi::kWin64) dispatch.function()->setUWTableKind(llvm::UWTableKind::Default);
  const HeaderVariant& variant = function.variants.front();
  std::vector<llvm::Function*> entries;
  for (size_t i = 0; i < variant.programs.size(); ++i) {
    // The kernels share one function that packs: the first program's.
    const PublicNames names{"", i == 0 ? Cat(function.name, "_pack") : ""};
    entries.push_back(AddProgram(variant.programs[i], variant.target, {abi}, names, *module));
  }
  dispatch.Print(entries);
  return module;
}

}  // namespace kirsch
