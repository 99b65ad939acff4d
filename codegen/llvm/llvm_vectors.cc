// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/llvm_vectors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "spec/check.h"
#include "spec/instruction.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using llvm::Value;

// The lanes of a vector that is a value.
int LanesIn(const Value* value) {
  return static_cast<int>(llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements());
}

// Memory is aligned to its elements, not to vectors: the user's tensors may lie anywhere.
llvm::Align AlignOf(Dtype memory) { return llvm::Align(static_cast<uint64_t>(Bytes(memory))); }

// Returns the intrinsic of a family that exists for vectors of 4, 8 and 16 words.
llvm::Intrinsic::ID ForWords(int words, llvm::Intrinsic::ID of4, llvm::Intrinsic::ID of8,
                             llvm::Intrinsic::ID of16) {
  return words == 4 ? of4 : words == 8 ? of8 : of16;
}

}  // namespace

llvm::Type* ElementType(Dtype dtype, llvm::LLVMContext& context) {
  if (dtype == Dtype::kF32) return llvm::Type::getFloatTy(context);
  if (dtype == Dtype::kF64) return llvm::Type::getDoubleTy(context);
  if (dtype == Dtype::kF16Sums) return llvm::Type::getHalfTy(context);
  return llvm::Type::getIntNTy(context, 8 * static_cast<unsigned>(Bytes(dtype)));
}

llvm::FixedVectorType* VectorType(const Var& var, llvm::LLVMContext& context) {
  return llvm::FixedVectorType::get(ElementType(var.dtype, context), static_cast<unsigned>(var.lanes));
}

llvm::FixedVectorType* LlvmVectors::Vector(llvm::Type* element, int lanes) {
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

// A known count is a constant mask. Any other is compared with the lanes' numbers. The lanes are as wide as
// those that the mask is for, so that the code generator needs no conversion.
Value* LlvmVectors::FirstLanes(int lanes, const LlvmCount& count, Dtype memory) {
  if (count.index == nullptr) return FirstLanes(lanes, count.number);
  llvm::Type* const type = ir_.getIntNTy(static_cast<unsigned>(8 * Bytes(memory)));
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < lanes; ++lane)
    numbers.push_back(llvm::ConstantInt::get(type, static_cast<uint64_t>(lane)));
  return ir_.CreateICmpULT(llvm::ConstantVector::get(numbers),
                           Splat(ir_.CreateTrunc(count.index, type), lanes));
}

// The mask that is true in the first `count` lanes.
llvm::Constant* LlvmVectors::FirstLanes(int lanes, int count) {
  std::vector<llvm::Constant*> bits;
  for (int lane = 0; lane < lanes; ++lane) bits.push_back(ir_.getInt1(lane < count));
  return llvm::ConstantVector::get(bits);
}

Value* LlvmVectors::Lanes(Value* value, int first, int count) {
  llvm::SmallVector<int> lanes;
  for (int lane = 0; lane < count; ++lane) lanes.push_back(first + lane);
  return ir_.CreateShuffleVector(value, lanes);
}

Value* LlvmVectors::Splat(Value* element, int lanes) {
  return ir_.CreateVectorSplat(static_cast<unsigned>(lanes), element);
}

Value* LlvmVectors::ElementAt(Value* base, Dtype memory, int64_t index) {
  if (index == 0) return base;
  return ir_.CreateInBoundsGEP(Element(memory), base, ir_.getInt64(static_cast<uint64_t>(index)));
}

// AVX2 and AVX-512F have masked accesses for words and wider elements only.
bool LlvmVectors::Maskable(Dtype memory) const {
  return Bytes(memory) >= kWordBytes || program_.HasFeature("avx512bw");
}

// Returns elements first .. first + count - 1 as an integer of `bits`, the rest being zero. Elements that
// fill it are one load; others are loaded one by one, so that nothing behind them is read.
Value* LlvmVectors::Word(Value* from, Dtype memory, int first, int count, int bits) {
  llvm::Type* const type = ir_.getIntNTy(static_cast<unsigned>(bits));
  const int element_bits = 8 * Bytes(memory);
  if (count * element_bits == bits)
    return ir_.CreateAlignedLoad(type, ElementAt(from, memory, first), AlignOf(memory));
  Value* word = llvm::ConstantInt::get(type, 0);
  for (int i = 0; i < count; ++i) {
    Value* element =
        ir_.CreateAlignedLoad(Element(memory), ElementAt(from, memory, first + i), AlignOf(memory));
    element = ir_.CreateShl(ir_.CreateZExt(element, type), static_cast<uint64_t>(i * element_bits));
    word = ir_.CreateOr(word, element);
  }
  return word;
}

// Loads a part of a vector of elements that cannot be masked: whole words under a mask, then the rest of a
// word.
Value* LlvmVectors::LoadByWords(Value* from, Dtype memory, int lanes, int count) {
  const int in_word = WordElements(memory), words = count / in_word, rest = count % in_word;
  llvm::FixedVectorType* type = Vector(ir_.getInt32Ty(), lanes / in_word);
  Value* value = llvm::Constant::getNullValue(type);
  if (words > 0)
    value = ir_.CreateMaskedLoad(type, from, AlignOf(memory), FirstLanes(lanes / in_word, words), value);
  if (rest > 0)
    value = ir_.CreateInsertElement(value, Word(from, memory, words * in_word, rest, 32),
                                    static_cast<uint64_t>(words));
  return ir_.CreateBitCast(value, Vector(Element(memory), lanes));
}

// Loads a part of a vector of elements that cannot be masked, no more than 16 bytes. It goes piece by piece,
// each of a power of two of elements, as RegisterTile::pieces counts them: 7 elements are 4, 2 and 1.
Value* LlvmVectors::LoadByPieces(Value* from, Dtype memory, int lanes, int count) {
  const int bits = 8 * Bytes(memory), all_bits = bits * lanes;
  Value* value = llvm::Constant::getNullValue(Vector(Element(memory), lanes));
  for (int done = 0; done < count;) {
    const int piece = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - done)));
    llvm::Type* const type = ir_.getIntNTy(static_cast<unsigned>(piece * bits));
    Value* part = ir_.CreateAlignedLoad(type, ElementAt(from, memory, done), AlignOf(memory));
    value = ir_.CreateBitCast(value, Vector(type, all_bits / (piece * bits)));
    // Pieces get smaller, so each lies at a multiple of its own size.
    value = ir_.CreateInsertElement(value, part, static_cast<uint64_t>(done / piece));
    done += piece;
  }
  return ir_.CreateBitCast(value, Vector(Element(memory), lanes));
}

// Loads elements without a conversion. Partial loads go by vectors of at least 16 bytes, which are those
// there are masks for; the lanes that are wanted are taken out of these.
Value* LlvmVectors::LoadNarrow(Value* from, Dtype memory, int lanes, const LlvmCount& count) {
  if (count.index == nullptr && count.number == lanes)
    return ir_.CreateAlignedLoad(Vector(Element(memory), lanes), from, AlignOf(memory));
  const int wide = std::max(lanes, kXmmBytes / Bytes(memory));
  llvm::FixedVectorType* type = Vector(Element(memory), wide);
  Value* value = nullptr;
  // Masks first; without them pieces for short vectors, and words for longer ones.
  if (Maskable(memory))
    value = ir_.CreateMaskedLoad(type, from, AlignOf(memory), FirstLanes(wide, count, memory),
                                 llvm::Constant::getNullValue(type));
  else if (wide * Bytes(memory) == kXmmBytes)
    value = LoadByPieces(from, memory, wide, count.Known());
  else
    value = LoadByWords(from, memory, wide, count.Known());
  return wide == lanes ? value : Lanes(value, 0, lanes);
}

// o8 and s8 differ in the highest bit only. bf16 is the upper half of an f32. Integers keep their sign, if
// their type has one.
Value* LlvmVectors::Widened(Value* value, Dtype from, Dtype to) {
  if (from == to) return value;
  if (to == Dtype::kF64)
    return ir_.CreateFPExt(Widened(value, from, Dtype::kF32), Vector(Element(to), LanesIn(value)));
  if (from == Dtype::kExcess8 || to == Dtype::kExcess8) {
    value = ir_.CreateXor(value, Splat(ir_.getInt8(0x80), LanesIn(value)));
    return Widened(value, Dtype::kS8, to == Dtype::kExcess8 ? Dtype::kS8 : to);
  }
  llvm::FixedVectorType* type = Vector(Element(to), LanesIn(value));
  if (WidensByF16(from)) return WidenedByF16(value, from, type);
  if (IsFloating(from)) {
    value = ir_.CreateZExt(value, Vector(ir_.getInt32Ty(), LanesIn(value)));
    return ir_.CreateBitCast(ir_.CreateShl(value, 16), type);
  }
  return Info(from).has_sign ? ir_.CreateSExt(value, type) : ir_.CreateZExt(value, type);
}

// Makes the bits of an f16 first, which an instruction widens. A NaN or an infinity must have the largest
// exponent there. Bits are moved to f16's places: the sign to the highest one, the mantissa below the
// exponent. An exponent with another bias makes the number too small by a power of two, which is multiplied
// in the end.
Value* LlvmVectors::WidenedByF16(Value* value, Dtype from, llvm::Type* type) {
  const int lanes = LanesIn(value), shift = Info(Dtype::kF16).mantissa - Info(from).mantissa;
  const auto constant = [&](uint32_t number) {
    return Splat(ir_.getInt16(static_cast<uint16_t>(number)), lanes);
  };
  if (from != Dtype::kF16) {
    const int sign_shift = 8 * (Bytes(Dtype::kF16) - Bytes(from));
    value = ir_.CreateShl(ir_.CreateZExt(value, Vector(ir_.getInt16Ty(), lanes)), sign_shift);
    // Copies of the sign take the places of the exponent's upper bits, and are cut off.
    if (sign_shift != shift)
      value = ir_.CreateAnd(ir_.CreateAShr(value, sign_shift - shift), constant(F16BitsOf(from)));
  }
  if (HasSpecialsOfItsOwn(from)) {
    // From the first special one on, magnitudes get the largest exponent beside their own bits.
    Value* magnitude = ir_.CreateAnd(value, constant(SignBit(Dtype::kF16) - 1));
    Value* number = ir_.CreateICmpSLT(magnitude, constant(FirstSpecialBits(from) << shift));
    Value* special = ir_.CreateOr(value, constant(FirstSpecialBits(Dtype::kF16)));
    value = ir_.CreateSelect(number, value, special);
  }
  value = ir_.CreateFPExt(ir_.CreateBitCast(value, Vector(ir_.getHalfTy(), lanes)), type);
  if (ScaleFromF16(from) == 0) return value;
  return ir_.CreateFMul(value, llvm::ConstantFP::get(type, std::ldexp(1.0, ScaleFromF16(from))));
}

Value* LlvmVectors::Load(const Var& to, Value* from, Dtype memory, const LlvmCount& count) {
  return Widened(LoadNarrow(from, memory, to.lanes, count), memory, to.dtype);
}

// Returns a word of memory in all lanes, loaded as an integer. LLVM takes a broadcast of pairs of bf16 for
// one of floats, whose results vdpbf16ps gets a cycle late on Zen 4, one after the other
// (bench/lab/2026-11-30-types.md).
Value* IntegerBroadcast(llvm::IRBuilder<>& ir, Value* from, int words) {
  auto* const vector = llvm::FixedVectorType::get(ir.getInt32Ty(), static_cast<unsigned>(words));
  auto* const type = llvm::FunctionType::get(vector, {ir.getPtrTy()}, false);
  llvm::CallInst* const load =
      ir.CreateCall(type, llvm::InlineAsm::get(type, "vpbroadcastd $1, $0", "=v,*m", false), {from});
  load->addParamAttr(0, llvm::Attribute::get(ir.getContext(), llvm::Attribute::ElementType, ir.getInt32Ty()));
  load->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
  load->setDoesNotThrow();
  return load;
}

// A word is `group` elements of memory. They are broadcast as memory has them, and widened after that, all
// lanes at once.
Value* LlvmVectors::Broadcast(const Var& to, Value* from, Dtype memory, int count) {
  const int group = WordElements(to.dtype);
  if (to.dtype == Dtype::kF64 && memory != Dtype::kF64) {
    Var floats = to;
    floats.dtype = Dtype::kF32;
    return Widened(Broadcast(floats, from, memory, count), Dtype::kF32, Dtype::kF64);
  }
  if (memory == Dtype::kBf16 && to.dtype == Dtype::kF32) {
    // In both halves of the word: that takes no instruction more, and the lower one is shifted out.
    Value* halves = Splat(ir_.CreateAlignedLoad(Element(memory), from, AlignOf(memory)), 2 * to.lanes);
    halves = ir_.CreateBitCast(halves, Vector(ir_.getInt32Ty(), to.lanes));
    return ir_.CreateBitCast(ir_.CreateShl(halves, 16), VectorType(to, ir_.getContext()));
  }
  if (group == 1) {
    Value* element = ir_.CreateAlignedLoad(Element(memory), from, llvm::Align(1));  // perhaps among bytes
    return Widened(Splat(element, to.lanes), memory, to.dtype);
  }
  if (to.dtype == Dtype::kBf16 && memory == to.dtype && count == group)
    return ir_.CreateBitCast(IntegerBroadcast(ir_, from, to.lanes / group), VectorType(to, ir_.getContext()));
  Value* words = Splat(Word(from, memory, 0, count, 8 * Bytes(memory) * group), to.lanes / group);
  return Widened(ir_.CreateBitCast(words, Vector(Element(memory), to.lanes)), memory, to.dtype);
}

// Rounds to nearest, ties to even, by integers: half of the last place is added, a little less if the upper
// half is even; then the upper half is taken. A NaN stays one, though its payload is cut: it gets a bit that
// is not cut.
Value* LlvmVectors::RoundedToBf16(Value* value) {
  const int lanes = LanesIn(value);
  llvm::FixedVectorType* type = Vector(ir_.getInt32Ty(), lanes);
  const auto constant = [&](uint32_t number) { return Splat(ir_.getInt32(number), lanes); };
  Value* bits = ir_.CreateBitCast(value, type);
  Value* upper = ir_.CreateLShr(bits, 16);
  Value* half = ir_.CreateAdd(ir_.CreateAnd(upper, constant(1)), constant(0x7fff));
  Value* rounded = ir_.CreateLShr(ir_.CreateAdd(bits, half), 16);
  Value* quiet = ir_.CreateOr(upper, constant(0x40));
  return ir_.CreateSelect(ir_.CreateFCmpUNO(value, value), quiet, rounded);
}

// Floats are rounded, integers saturate: they are limited before bits are cut off.
Value* LlvmVectors::Narrowed(Value* value, Dtype from, Dtype to) {
  if (from == to) return value;
  const int lanes = LanesIn(value);
  if (from == Dtype::kF64)
    return Narrowed(ir_.CreateFPTrunc(value, Vector(ir_.getFloatTy(), lanes)), Dtype::kF32, to);
  if (from == Dtype::kF32 && to == Dtype::kF16)
    return ir_.CreateBitCast(ir_.CreateFPTrunc(value, Vector(ir_.getHalfTy(), lanes)),
                             Vector(Element(to), lanes));
  if (from == Dtype::kF32 && to == Dtype::kBf16) {
    value = RoundedToBf16(value);
  } else {
    KIRSCH_CHECK(from == Dtype::kS32);
    const auto limit = [&](int64_t number) {
      return Splat(ir_.getInt32(static_cast<uint32_t>(static_cast<int32_t>(number))), lanes);
    };
    value = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, limit(MostOf(to)));
    value = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, limit(LeastOf(to)));
  }
  return ir_.CreateTrunc(value, Vector(Element(to), lanes));
}

// Stores the first `count` elements where there is no mask, in pieces of powers of two: 7 elements are 4, 2
// and 1.
void LlvmVectors::StorePieces(Value* value, Value* to, Dtype memory, int count) {
  for (int done = 0; done < count;) {
    const int piece = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - done)));
    Value* at = ElementAt(to, memory, done);
    Value* part =
        piece == 1 ? ir_.CreateExtractElement(value, static_cast<uint64_t>(done)) : Lanes(value, done, piece);
    ir_.CreateAlignedStore(part, at, AlignOf(memory));
    done += piece;
  }
}

// Masked stores take vectors of at least 16 bytes, so shorter ones get lanes of no value, which the mask
// excludes.
void LlvmVectors::Store(const Var& from, Value* value, Value* to, Dtype memory, const LlvmCount& count) {
  value = Narrowed(value, from.dtype, memory);
  const int wide = std::max(from.lanes, kXmmBytes / Bytes(memory));
  if (count.index == nullptr && count.number == from.lanes) {
    ir_.CreateAlignedStore(value, to, AlignOf(memory));
  } else if (!Maskable(memory)) {
    StorePieces(value, to, memory, count.Known());
  } else {
    if (wide != from.lanes) {
      llvm::SmallVector<int> lanes(static_cast<size_t>(wide), llvm::PoisonMaskElem);
      for (int lane = 0; lane < from.lanes; ++lane) lanes[static_cast<size_t>(lane)] = lane;
      value = ir_.CreateShuffleVector(value, lanes);
    }
    ir_.CreateMaskedStore(value, to, AlignOf(memory), FirstLanes(wide, count, memory));
  }
}

Value* LlvmVectors::MultiplyAdd(const Var& a_var, const Var& b_var, Value* accumulator, Value* a, Value* b) {
  const auto [row, exchanged] = InstructionFor(a_var.dtype, b_var.dtype);
  KIRSCH_CHECK(row != nullptr);
  const int bytes = static_cast<int>(accumulator->getType()->getPrimitiveSizeInBits()) / 8;
  const Encoding* const encoding =
      FindEncoding(*row, bytes, [&](std::string_view feature) { return program_.HasFeature(feature); });
  KIRSCH_CHECK(encoding != nullptr);
  if (exchanged) std::swap(a, b);
  // Where the sum is among the intrinsic's operands: the last one, the first one, or added to a product.
  switch (encoding->form) {
    case EncodingForm::kLast:
      return Call(encoding->llvm, {a, b, accumulator});
    case EncodingForm::kFirst:
      return Call(encoding->llvm, {accumulator, a, b});
    case EncodingForm::kProduct:
      return ir_.CreateAdd(accumulator,
                           encoding->llvm.empty() ? ir_.CreateMul(a, b) : Call(encoding->llvm, {a, b}));
  }
  KIRSCH_BUG("no such form");
}

// Calls the intrinsic of that name, '$' standing for the bits of the vectors. Its arguments have the same
// bits, perhaps as other types, to which they are cast.
Value* LlvmVectors::Call(std::string_view name, llvm::SmallVector<Value*, 3> arguments) {
  const auto bits = static_cast<uint64_t>(arguments[0]->getType()->getPrimitiveSizeInBits());
  const llvm::Intrinsic::ID id =
      llvm::Function::lookupIntrinsicID(absl::StrReplaceAll({name.data(), name.size()}, {{"$", Cat(bits)}}));
  KIRSCH_CHECK(id != llvm::Intrinsic::not_intrinsic);
  if (llvm::Intrinsic::isOverloaded(id)) return ir_.CreateIntrinsic(id, {arguments[0]->getType()}, arguments);
  const llvm::FunctionType* const type = llvm::Intrinsic::getType(ir_.getContext(), id);
  for (size_t i = 0; i < arguments.size(); ++i)
    arguments[i] = ir_.CreateBitCast(arguments[i], type->getParamType(static_cast<unsigned>(i)));
  return ir_.CreateIntrinsic(id, {}, arguments);
}

// Maxima and minima are comparisons, which are false for NaNs, so that b is taken: the instructions do so,
// too.
Value* LlvmVectors::Binary(BinaryOp op, Value* a, Value* b) {
  // Values tell floats from integers by their own types, so no Var is needed.
  const bool real = a->getType()->isFPOrFPVectorTy();
  switch (op) {
    case BinaryOp::kAdd:
      return real ? ir_.CreateFAdd(a, b) : ir_.CreateAdd(a, b);
    case BinaryOp::kSub:
      return real ? ir_.CreateFSub(a, b) : ir_.CreateSub(a, b);
    case BinaryOp::kMul:
      return real ? ir_.CreateFMul(a, b) : ir_.CreateMul(a, b);
    case BinaryOp::kMax:
      return ir_.CreateSelect(real ? ir_.CreateFCmpOGT(a, b) : ir_.CreateICmpSGT(a, b), a, b);
    case BinaryOp::kMin:
      return ir_.CreateSelect(real ? ir_.CreateFCmpOLT(a, b) : ir_.CreateICmpSLT(a, b), a, b);
    case BinaryOp::kDiv:
      return ir_.CreateFDiv(a, b);
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      return OfBits(op, a, b);
  }
  KIRSCH_BUG("no such operation");
}

// Floats are taken as integers and back, which costs nothing.
Value* LlvmVectors::OfBits(BinaryOp op, Value* a, Value* b) {
  llvm::Type* const type = a->getType();
  const auto bits_of_lane = static_cast<unsigned>(type->getScalarSizeInBits());
  llvm::Type* const words = Vector(ir_.getIntNTy(bits_of_lane), LanesIn(a));
  a = ir_.CreateBitCast(a, words);
  b = ir_.CreateBitCast(b, words);
  Value* bits = op == BinaryOp::kAnd  ? ir_.CreateAnd(a, b)
                : op == BinaryOp::kOr ? ir_.CreateOr(a, b)
                                      : ir_.CreateXor(a, b);
  return ir_.CreateBitCast(bits, type);
}

Value* LlvmVectors::Fma(Value* a, Value* b, Value* c) {
  return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

// The intrinsics are masked ones; the mask has all lanes.
Value* LlvmVectors::Scale(Value* a, Value* exponent) {
  namespace Id = llvm::Intrinsic;
  constexpr uint32_t kCurrentRounding = 4;
  const int words = static_cast<int>(a->getType()->getPrimitiveSizeInBits()) / 32;
  std::vector<Value*> arguments = {a, exponent, llvm::Constant::getNullValue(a->getType()),
                                   LanesIn(a) == 16 ? ir_.getInt16(0xffff) : ir_.getInt8(0xff)};
  if (words == 16) arguments.push_back(ir_.getInt32(kCurrentRounding));
  const bool wide = a->getType()->getScalarType()->isDoubleTy();
  const Id::ID id = wide ? ForWords(words, Id::x86_avx512_mask_scalef_pd_128,
                                    Id::x86_avx512_mask_scalef_pd_256, Id::x86_avx512_mask_scalef_pd_512)
                         : ForWords(words, Id::x86_avx512_mask_scalef_ps_128,
                                    Id::x86_avx512_mask_scalef_ps_256, Id::x86_avx512_mask_scalef_ps_512);
  return ir_.CreateIntrinsic(id, {}, arguments);
}

Value* LlvmVectors::FirstOf(Value* a, Value* b, const LlvmCount& count) {
  const Dtype type = a->getType()->getScalarSizeInBits() == 64 ? Dtype::kF64 : Dtype::kF32;
  return ir_.CreateSelect(FirstLanes(LanesIn(a), count, type), a, b);
}

// Adds to each lane the one that is half the lanes away, then a quarter, and so on. Each step adds the same
// two numbers in both lanes of a pair, so all lanes get the same bits.
Value* LlvmVectors::Across(BinaryOp op, Value* value) {
  for (int distance = LanesIn(value) / 2; distance > 0; distance /= 2) {
    // Lane i's partner is i with one bit turned: of 8 lanes, the steps turn bits 4, 2 and 1.
    llvm::SmallVector<int> partner;
    for (int lane = 0; lane < LanesIn(value); ++lane) partner.push_back(lane ^ distance);
    value = Binary(op, value, ir_.CreateShuffleVector(value, partner));
  }
  return value;
}

Value* LlvmVectors::Add(Value* a, Value* b) { return Binary(BinaryOp::kAdd, a, b); }

// The word is repeated: 32 bits, or as many as an element has that is wider or is no part of a word.
Value* LlvmVectors::Fill(const Var& to, uint64_t word) {
  const int group = WordElements(to.dtype), words = to.lanes / group;
  Value* const element = ir_.getIntN(static_cast<unsigned>(8 * Bytes(to.dtype) * group), word);
  return ir_.CreateBitCast(Splat(element, words), VectorType(to, ir_.getContext()));
}

Value* LlvmVectors::FillIndex(const Var& to, Value* first, bool ascending) {
  Value* const all = ir_.CreateVectorSplat(static_cast<unsigned>(to.lanes), first);
  if (!ascending) return all;
  std::vector<float> lanes(static_cast<size_t>(to.lanes));
  std::iota(lanes.begin(), lanes.end(), 0.0f);
  return ir_.CreateFAdd(all, llvm::ConstantDataVector::get(ir_.getContext(), lanes));
}

Value* LlvmVectors::Convert(const Var& to, Value* from) {
  llvm::FixedVectorType* type = VectorType(to, ir_.getContext());
  // Every s32 has a nearest f32; the other direction needs the instruction's own rounding.
  if (to.dtype == Dtype::kF32) return ir_.CreateSIToFP(from, type);
  // Rounds as the CPU is told to: to nearest, ties to even.
  namespace Id = llvm::Intrinsic;
  const Id::ID id =
      ForWords(to.lanes, Id::x86_sse2_cvtps2dq, Id::x86_avx_cvt_ps2dq_256, Id::x86_avx512_mask_cvtps2dq_512);
  if (to.lanes < 16) return ir_.CreateIntrinsic(id, {}, {from});
  constexpr uint32_t kCurrentRounding = 4;
  return ir_.CreateIntrinsic(
      id, {},
      {from, llvm::Constant::getNullValue(type), ir_.getInt16(0xffff), ir_.getInt32(kCurrentRounding)});
}

Value* LlvmVectors::PairSums(Value* a, Value* b) { return Add(EverySecond(a, b, 0), EverySecond(a, b, 1)); }

// Adds halves of each vector until 16 bytes are left. These have 8 lanes, which three horizontal additions
// sum, or 4, which two do, or 2, which one does. With 4 lanes, of vectors a, b, c, d:
//   low  = a0+a1 a2+a3 b0+b1 b2+b3, high = c0+c1 c2+c3 d0+d1 d2+d3
//   sums = all of a, all of b, all of c, all of d
Value* LlvmVectors::LaneSums(const std::array<Value*, 4>& from) {
  std::array<Value*, 4> parts = from;
  const int in_part = 8 * kXmmBytes / static_cast<int>(from[0]->getType()->getScalarSizeInBits());
  for (Value*& value : parts)
    for (int lanes = LanesIn(value); lanes > in_part; lanes /= 2)
      value = Add(Lanes(value, 0, lanes / 2), Lanes(value, lanes / 2, lanes / 2));
  // PairSums keeps the order of its vectors, so the sums end in the order of `from`.
  Value* const high = PairSums(parts[2], parts[3]);
  Value* const low = PairSums(parts[0], parts[1]);
  if (in_part == 2) return ir_.CreateShuffleVector(low, high, {0, 1, 2, 3});
  Value* const sums = PairSums(low, high);
  return in_part == 4 ? sums : Lanes(PairSums(sums, sums), 0, 4);
}

// Two steps of interleaving: single elements of rows 0 and 1, and of 2 and 3; then pairs of these.
//   low01 = a0 b0 a1 b1, low23 = c0 d0 c1 d1  ->  a0 b0 c0 d0 and a1 b1 c1 d1
void LlvmVectors::Transpose(std::array<Value*, 4>* rows) {
  if ((*rows)[2] == nullptr) return TransposePairs(rows);
  std::array<Value*, 4> row = *rows;
  llvm::Type* const type = row[0]->getType();
  const unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  // Each 16 bytes of wider vectors are a square of their own.
  const int parts = std::max(static_cast<int>(bits) / (8 * kXmmBytes), 1);
  llvm::Type* const quarter = ir_.getIntNTy(bits / static_cast<unsigned>(4 * parts));
  for (Value*& value : row) value = ir_.CreateBitCast(value, Vector(quarter, 4 * parts));
  // Chooses lanes of two vectors, those of the second being 4 and more, in each 16 bytes alike.
  const auto shuffled = [&](Value* a, Value* b, const std::array<int, 4>& lanes) {
    llvm::SmallVector<int> all;
    for (int part = 0; part < parts; ++part)
      for (const int lane : lanes) all.push_back(4 * part + lane + (lane < 4 ? 0 : 4 * (parts - 1)));
    return ir_.CreateShuffleVector(a, b, all);
  };
  Value* low01 = shuffled(row[0], row[1], {0, 4, 1, 5});
  Value* high01 = shuffled(row[0], row[1], {2, 6, 3, 7});
  Value* low23 = shuffled(row[2], row[3], {0, 4, 1, 5});
  Value* high23 = shuffled(row[2], row[3], {2, 6, 3, 7});
  *rows = {shuffled(low01, low23, {0, 1, 4, 5}), shuffled(low01, low23, {2, 3, 6, 7}),
           shuffled(high01, high23, {0, 1, 4, 5}), shuffled(high01, high23, {2, 3, 6, 7})};
  for (Value*& value : *rows) value = ir_.CreateBitCast(value, type);
}

// Transposes two vectors, each 16 bytes of which are two elements: a0 a1, b0 b1 -> a0 b0, a1 b1.
void LlvmVectors::TransposePairs(std::array<Value*, 4>* rows) {
  const auto [a, b] = std::array{(*rows)[0], (*rows)[1]};
  const int lanes = LanesIn(a);
  for (int second : {0, 1}) {
    llvm::SmallVector<int> chosen;
    for (int lane = second; lane < lanes; lane += 2) {
      chosen.push_back(lane);
      chosen.push_back(lanes + lane);
    }
    (*rows)[static_cast<size_t>(second)] = ir_.CreateShuffleVector(a, b, chosen);
  }
}

// Puts every second part of two vectors into one. Four vectors take two rounds:
//   even01 = a0 a2 b0 b2, even23 = c0 c2 d0 d2  ->  a0 b0 c0 d0 (even) and a2 b2 c2 d2 (odd)
void LlvmVectors::TransposeParts(std::array<Value*, 4>* rows) {
  std::array<Value*, 4>& row = *rows;
  const int lanes = LanesIn(row[0]), parts = row[2] == nullptr ? 2 : 4, in_part = lanes / parts;
  const auto every_second = [&](Value* a, Value* b, int first) {
    llvm::SmallVector<int> chosen;
    for (int part = first; part < 2 * parts; part += 2)
      for (int lane = 0; lane < in_part; ++lane) chosen.push_back(part * in_part + lane);
    return ir_.CreateShuffleVector(a, b, chosen);
  };
  Value *even01 = every_second(row[0], row[1], 0), *odd01 = every_second(row[0], row[1], 1);
  if (parts == 2) {
    row[0] = even01;
    row[1] = odd01;
    return;
  }
  Value *even23 = every_second(row[2], row[3], 0), *odd23 = every_second(row[2], row[3], 1);
  row = {every_second(even01, even23, 0), every_second(odd01, odd23, 0), every_second(even01, even23, 1),
         every_second(odd01, odd23, 1)};
}

// Each group is an integer: elements are widened to it, shifted to their places, and joined.
Value* LlvmVectors::Interleave(const Var& to, const std::array<Value*, 4>& from) {
  const int groups = LanesIn(from[0]), bits = 8 * Bytes(to.dtype);
  llvm::FixedVectorType* type =
      Vector(ir_.getIntNTy(static_cast<unsigned>(bits * to.lanes / groups)), groups);
  Value* sum = nullptr;
  for (size_t place = 0; place < from.size() && from[place] != nullptr; ++place) {
    Value* part = ir_.CreateShl(ir_.CreateZExt(from[place], type), place * static_cast<size_t>(bits));
    sum = sum == nullptr ? part : ir_.CreateOr(sum, part);
  }
  return ir_.CreateBitCast(sum, VectorType(to, ir_.getContext()));
}

Value* LlvmVectors::GroupLane(Value* from, int group, int lane) {
  llvm::SmallVector<int> lanes;
  for (int at = 0; at < LanesIn(from); ++at) lanes.push_back(at - at % group + lane);
  return ir_.CreateShuffleVector(from, lanes);
}

Value* LlvmVectors::EverySecond(Value* a, Value* b, int first) {
  llvm::SmallVector<int> lanes;
  for (int lane = first; lane < 2 * LanesIn(a); lane += 2) lanes.push_back(lane);
  return ir_.CreateShuffleVector(a, b, lanes);
}

// A bf16 is the upper half of an f32: the lower element is shifted up, the upper one is masked.
Value* LlvmVectors::Half(Value* words, int half) {
  const int lanes = LanesIn(words) / 2;
  Value* word = ir_.CreateBitCast(words, Vector(ir_.getInt32Ty(), lanes));
  word = half == 0 ? ir_.CreateShl(word, 16) : ir_.CreateAnd(word, Splat(ir_.getInt32(0xffff0000), lanes));
  return ir_.CreateBitCast(word, Vector(ir_.getFloatTy(), lanes));
}

}  // namespace kirsch
