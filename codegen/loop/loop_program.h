// SPDX-License-Identifier: Apache-2.0
// The loop program: what a Program is lowered to, and what both printers (LLVM IR, C with intrinsics) print.
//
// A program is a list of procedures; the first is the entry, with the parameters of LoopProgram::tensors. A
// procedure is straight-line vector code, counted loops and calls over typed, mutable variables: pointers,
// indices and vector registers. There are no scalars: a single element is a vector access of count 1. All
// offsets and strides are in elements of the pointer's dtype, and constants wherever they can be. A VarId is
// an index into Procedure::vars.
#ifndef KIRSCH_CODEGEN_LOOP_LOOP_PROGRAM_H_
#define KIRSCH_CODEGEN_LOOP_LOOP_PROGRAM_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/dtype.h"
#include "spec/epilogue.h"
#include "spec/instruction.h"
#include "spec/parameter.h"
#include "spec/program/affine.h"

namespace kirsch {

enum class VarType : uint8_t { kPointer, kIndex, kVector };

struct Var {
  std::string name;  // unique in the procedure, a C identifier
  VarType type = VarType::kIndex;
  Dtype dtype = Dtype::kF32;  // of the pointee or the lanes
  int lanes = 0;              // kVector, and of an array's vectors
  bool stored = false;        // kPointer: the procedure writes through it
  bool may_alias = false;     // kPointer, a parameter: others may point to the same elements
  int64_t elements = 0;       // kPointer, no parameter: to an array of so many, on the stack

  int bytes() const { return lanes * Bytes(dtype); }  // of a vector
};

struct Address {
  VarId pointer = kNoVar;
  Affine offset;
};

// Elements of a vector, from lane 0: so many, or, if there is an index, as many as that says, from 1 to
// `most`.
struct LaneCount {
  LaneCount(int number) : most(number) {}  // NOLINT(google-explicit-constructor): mostly it is just a number
  LaneCount(int most, VarId index) : most(most), index(index) {}

  bool IsAll(int lanes) const { return index == kNoVar && most == lanes; }

  int most;
  VarId index = kNoVar;
};

// The vector operations; what they do follows from the types of their operands. `count`: elements that are
// read or written in memory, from lane 0; the others are not touched in memory, and read as zero.
struct Zero {
  VarId to;
};
struct Load {  // converts to the vector's type, which is as wide as memory's or wider; exact
  VarId to;
  Address from;
  LaneCount count;
  std::optional<Dtype> as = {};  // the type of what is at `from`, if the pointer is one to bytes: f32
};
struct Broadcast {  // a word of the vector's type, in all its words: made of `count` elements like a Load
  VarId to;
  Address from;
  int count;
  std::optional<Dtype> as = {};  // the type of what is at `from`, if the pointer is one to bytes; one element
};
inline constexpr int kF32Mantissa = 23;
inline constexpr uint32_t kLeastPowerBits = 1 << 21;  // of 2^-128, as an f32
struct BroadcastPower {  // f32, in all lanes: 2^(the byte without a sign at `from` - 128)
  VarId to;
  Address from;
};
struct LoadNibbles {  // u8: the lower halves of the bytes at `from`, half as many as there are lanes, then
                      // the upper ones
  VarId to;
  Address from;
};
struct Store {  // narrows as spec/element.h says; f32 to bf16 by integers: subnormals are no exception
  VarId from;
  Address to;
  LaneCount count;
  bool streams = false;  // past the caches: a whole vector, of memory's type, to an address aligned to it
  std::optional<Dtype> as = {};  // the type of what is at `to`, if the pointer is one to bytes
};
// accumulator += a * b, the way of the operands' types (spec/microkernel.h): f32, f64, h16 and s32 lane by
// lane; words of bf16 x bf16, s16 x s16, u8 x s8 (in either order) and o8 x s8 (as if it were u8) add the
// products of their elements to the lane. `subtracts`, floats only: accumulator = a * b - accumulator.
struct MultiplyAdd {
  VarId accumulator, a, b;
  bool subtracts = false;
};
enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kMax, kMin, kDiv, kAnd, kOr, kXor };
struct Binary {  // lane by lane; max and min of floats give b where a or b is a NaN, those of integers
                 // take all for signed; kDiv: f32 only; kAnd, kOr, kXor: of the bits. C compilers may make
                 // one operation of a product and a sum: see Fma.
  BinaryOp op;
  VarId to, a, b;
};
// f32, rounded once. A product that is only added somewhere has to be one: GCC makes it one in any case.
enum class FmaSign : uint8_t { kAdd /* a * b + c */, kSubtract /* a * b - c */, kNegate /* c - a * b */ };
struct Fma {
  VarId to, a, b, c;
  FmaSign sign = FmaSign::kAdd;
};
struct SquareRoot {  // f32
  VarId to, from;
};
struct Scale {  // f32: a * 2^exponent, the exponent an integer; rounded once. AVX-512F
  VarId to, a, exponent;
};
struct Lookup {  // integers: of each byte, the entry that its lower half says; 0 where its highest bit is set
  VarId to, from;
  std::array<uint8_t, 16> table;
};
inline constexpr int kTableBytes = 128;
struct FillBytes {  // u8, 64 lanes
  VarId to;
  std::array<uint8_t, kTableBytes / 2> bytes;
};
struct LookupPair {  // u8, 64 lanes: of each byte, the entry of both tables, one behind the other, that its
                     // lower seven bits say. AVX512-VBMI
  VarId to, from, first, second;
};
// The elements of low and high by turns, of the first half of each 16 bytes, or of the second; the bits of
// `to`.
struct Unpack {
  VarId to, low, high;
  bool second;
};
// u8, more than 16 lanes: in such an order that they are in their own again when they have been unpacked so
// many times, once or twice: vectors of all that first halves give, then of all that second ones do.
struct ForUnpacking {
  VarId to, from;
  int times;
};
struct Shift {  // s32, s16 or u8 lanes, by so many bits to the left, or, if negative, to the right, zeros
                // coming in
  VarId to, from;
  int left;
};
struct Bits {  // f32 or s32 as one of these, bit by bit
  VarId to, from;
};
struct SelectLess {  // f32, lane by lane: x < y ? a : b, so b where x or y is a NaN
  VarId to, x, y, a, b;
};
struct FirstLanes {  // f32: the first `count` lanes of a, the others of b
  VarId to, a, b;
  LaneCount count;
};
struct Across {  // f32: all lanes = the sum, or the maximum, of all lanes; `op` is kAdd or kMax
  BinaryOp op;
  VarId to, from;
};
struct Fill {  // a 32-bit word in all lanes; of f64, 64 bits; of h16, 16
  VarId to;
  uint64_t word;
};
struct Convert {  // s32 to f32; or f32 to s32: to nearest, ties to even; anything comes of what is beyond s32
  VarId to, from;
};
struct LaneSums {  // floats or s32: lane i of `to` (4 lanes) = sum of the lanes of from[i]; 0 where from[i]
                   // is kNoVar
  VarId to;
  std::array<VarId, 4> from;
};
// 4 vectors of 4 elements (or of 4 groups of elements), as the rows of a matrix, in place; of vectors of more
// than 16 bytes, all of words, each 16 bytes are turned on their own. Of f64, whose 16 bytes are 2 elements,
// 2 vectors.
struct Transpose {
  std::array<VarId, 4> rows;  // kNoVar after the last
};
// The same of 2 or 4 vectors of as many parts of 16 bytes each.
struct TransposeParts {
  std::array<VarId, 4> rows;  // kNoVar after the last
};
struct Interleave {  // group i of `to` = lane i of from[0], from[1], ... (0 after the last)
  VarId to;
  std::array<VarId, 4> from;  // kNoVar after the last
};
struct Deinterleave {  // in place: the even and the odd elements of both vectors, one after the other
  VarId even, odd;
};
struct SplitPairs {  // the even and the odd elements of a vector of bf16, as f32
  VarId even, odd, from;
};

struct Fence {};  // the compiler moves no load across it, so that what is loaded later takes no register yet
// The compiler takes the vector for still needed here, so that an accumulator, and not the vector's register,
// takes what is multiplied by it.
struct Keep {
  VarId vector;
};
inline constexpr int64_t kLineBytes = 64;  // a line of the caches, of any x86-64 CPU
inline constexpr int kXmmBytes = 16;       // the shortest vector
struct Prefetch {                          // the line at `at`, into L1, or only into L2
  Address at;
  bool into_l2 = false;
};
struct ToLine {  // index = the elements of a pointer to words before the next line begins: 0 to 15
  VarId index, pointer;
};
// Tiles are registers of a matrix unit, by number; see TileEncoding. All of them have rows of kTileRowBytes.
inline constexpr int kTileRegisters = 8;
using TileRows = std::array<uint8_t, kTileRegisters>;
// What the instruction that configures tiles is given.
constexpr std::array<uint8_t, 64> TileConfigurationBytes(const TileRows& rows) {
  constexpr size_t kPalette = 0, kRowBytes = 16,
                   kRows = 48;  // places of a number, of 16-bit numbers, of bytes
  std::array<uint8_t, 64> bytes = {};
  bytes[kPalette] = 1;
  for (size_t tile = 0; tile < rows.size(); ++tile) {
    bytes[kRowBytes + 2 * tile] = kTileRowBytes;
    bytes[kRows + tile] = rows[tile];
  }
  return bytes;
}
struct TileConfigure {  // as many rows in each; what they hold is lost
  TileRows rows;
};
struct TileRelease {};  // the unit is used no more
struct TileZero {
  int tile;
};
struct TileLoad {  // rows at distances of so many elements, of four bytes or groups that fill them
  int tile;
  Address from;
  Affine stride;
};
struct TileStore {
  int tile;
  Address to;
  Affine stride;
};
struct TileMultiplyAdd {  // accumulator += lhs * rhs
  Arithmetic arithmetic;
  bool exchanged;  // lhs is of the type that rhs has in the row of the arithmetic, and the other way round
  int accumulator, lhs, rhs;
};

struct Drain {};  // what was stored past the caches comes before whatever is stored later
struct Advance {
  VarId pointer;
  Affine by;
};
// Pointers then counts are the procedure's parameters. Offsets count elements of the parameter's type, to
// which the pointer is converted.
struct Call {
  int procedure;
  std::vector<Address> pointers;
  std::vector<Affine> counts;
};

struct Stmt;

struct Divide {  // index = of / by, rounded down; or what is left of that; at least `min_tail` is, or all
  VarId index;
  Affine of;
  int64_t by;
  bool left = false;
  int64_t min_tail = 0;
};
struct For {  // body with index = 0 .. count - 1
  VarId index;
  Affine count;
  std::vector<Stmt> body;
};
struct IfAny {  // body, if the index is not 0
  VarId index;
  std::vector<Stmt> body;
};
struct Switch {  // the body for the value of the index: the first is for `least`, the next for one more
  VarId index;
  int64_t least;
  std::vector<std::vector<Stmt>> bodies;
};
struct OnThread {  // body, on the thread whose number is task % n_threads, or see LoopProgram::block; only in
                   // the entry
  Affine task;
  std::vector<Stmt> body;
};
struct ForBlocks {  // body with index = the number of each wanted one of `count` blocks, see
                    // LoopProgram::block; only in the entry
  VarId index;
  int64_t count;
  std::vector<Stmt> body;
};
struct InPhase {  // body, if the entry is called for this phase; only in the entry
  int phase;
  std::vector<Stmt> body;
};

struct Stmt {
  std::variant<Zero, Load, Broadcast, BroadcastPower, LoadNibbles, Store, MultiplyAdd, Binary, Fma,
               SquareRoot, Scale, Lookup, FillBytes, LookupPair, Unpack, ForUnpacking, Shift, Bits,
               SelectLess, FirstLanes, Across, Fill, Convert, LaneSums, Transpose, TransposeParts, Interleave,
               Deinterleave, SplitPairs, TileConfigure, TileRelease, TileZero, TileLoad, TileStore,
               TileMultiplyAdd, Fence, Keep, Prefetch, ToLine, Drain, Advance, Call, Divide, For, IfAny,
               Switch, OnThread, ForBlocks, InPhase>
      op;
};

struct Procedure {
  std::string name;
  std::vector<Var> vars;  // the parameters first: pointers, then indices
  int num_parameters = 0;
  std::vector<Stmt> body;
  std::optional<TileRows> tiles = {};  // how tiles are to be configured when it is called; none: it uses none
};

// A tensor that the entry takes.
struct EntryTensor {
  std::string name;
  Dtype dtype = Dtype::kF32;
  bool stored = false;
  int operand = 0;  // of a spec, which of its operands it is, or is the copy of

  friend bool operator==(const EntryTensor&, const EntryTensor&) = default;
};

// A size that the entry takes.
struct EntrySize {
  std::string name;
  int64_t least = 1, most = 1;
};

// Constants that are prepacked: procedures[procedure], called with (constants..., packed), packs them
// once; the entry takes what it wrote. A contraction's operand is replaced by its copy; of a graph's kernel,
// all constants are in one buffer.
struct Packing {
  int place = 0;      // of `packed` among the tensors
  int64_t bytes = 0;  // of the packed buffer, a multiple of 64, to which it is aligned
  int procedure = 0;
  bool calls = false;  // the procedure is an entry of its own, which calls those that copy
  std::vector<EntryTensor> constants;
};

// What the parameters behind the tensors are called.
inline constexpr char kThread[] = "thread", kThreads[] = "n_threads";
inline constexpr char kPhase[] = "phase", kPacked[] = "packed";
inline constexpr char kFirstColumn[] = "first_column", kEndColumn[] = "end_column";

// What a kernel's parameter is called that is not 0 if it adds to the output.
inline constexpr char kAdd[] = "add";

// What the function that others call takes even if its code needs none, so that its parameters follow from
// what was asked for, not from what a search found.
struct EntryParameters {
  bool scratch = false, threads = false;
  bool phases = false;  // shared memory and the phase
  // Of a spec, its operands by the caller's names, in his order; empty: in its own.
  std::vector<Parameter> tensors = {};
};

struct LoopProgram {
  std::string name;  // the entry's
  // procedures[0] is the entry; only it, the one that packs a graph's constants, and those of ShareChoices
  // call others, which are no entries; the latter come behind all that they call.
  std::vector<Procedure> procedures;
  std::vector<std::string> features;  // ISA features the code needs, LLVM's names
  bool masks = false;         // masked accesses by mask registers, else by AVX2's maskload and maskstore
  int64_t scratch_bytes = 0;  // per thread, 64-byte aligned; 0: none is used
  int64_t tasks = 1;  // tasks that threads share, at most in any phase; 1: `thread` and `n_threads` are not
                      // used unless there are phases
  // Not 0: tasks are blocks of so many of the user's columns, and `thread` and `n_threads` are the first
  // column and the end of those wanted: a block is computed if it begins among them.
  int64_t block = 0;
  std::optional<Packing> packing;
  // The entry's first parameters, in the caller's order: inputs, but for what is packed; `packed`, if
  // something is; and out. Then: scratch, thread, n_threads, [sizes], [`shared`, `phase`]. The last two are
  // there if there are several phases or `always` says so. Every thread calls the entry for each phase, when
  // all are done with the one before. The function that others call begins with the sizes, and has no more
  // than TakesScratch, TakesThreads and TakesPhases say (CParameters in c_signature.h).
  std::vector<EntryTensor> tensors;
  int phases = 1;
  std::vector<EntrySize> sizes;  // that callers say; only with a single phase
  int64_t shared_bytes = 0;      // of memory that all threads share, 64-byte aligned
  EntryParameters always;

  VarId scratch() const { return static_cast<VarId>(tensors.size()); }
  VarId thread() const { return scratch() + 1; }
  VarId threads() const { return scratch() + 2; }
  VarId run_time_size(size_t number) const { return scratch() + 3 + static_cast<VarId>(number); }
  VarId shared() const { return run_time_size(sizes.size()); }
  VarId phase() const { return shared() + 1; }

  // Is there anything to do for several threads?
  bool SharesWork() const { return tasks > 1 || phases > 1 || block != 0; }

  bool TakesScratch() const { return scratch_bytes > 0 || always.scratch; }
  bool TakesThreads() const { return SharesWork() || always.threads; }
  bool TakesPhases() const { return phases > 1 || always.phases; }

  bool HasFeature(std::string_view feature) const {
    return std::find(features.begin(), features.end(), feature) != features.end();
  }
};

// The public function that packs ahead.
inline std::string PackName(const LoopProgram& program) { return program.name + "_pack"; }

// Is the procedure the one that packs a graph's constants?
inline bool PacksConstants(const LoopProgram& program, size_t procedure) {
  return program.packing && program.packing->calls &&
         program.packing->procedure == static_cast<int>(procedure);
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_LOOP_PROGRAM_H_
