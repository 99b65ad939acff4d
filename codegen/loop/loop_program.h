// SPDX-License-Identifier: Apache-2.0
// Defines the loop program: the form between a Program and its printed code. Lower() (codegen/lower.h) makes
// one from a Program. Two printers print it: one as LLVM IR, one as C with intrinsics.
//
// A program is a list of procedures; the first is the entry, with the parameters of LoopProgram::tensors. A
// procedure is straight-line vector code, counted loops and calls over typed, mutable variables: pointers,
// indices and vector registers. There are no scalars: a single element is a vector access of count 1. All
// offsets and strides are in elements of the pointer's dtype, and constants wherever they can be. A VarId is
// an index into Procedure::vars.
//
// A procedure that doubles four vectors of eight floats, as ProcedureText() prints it:
//   twice(from, to)
//     for i3 < 4
//       v = load [from + i3 * 8]
//       v = v + v
//       store [to + i3 * 8] = v
#ifndef KIRSCH_CODEGEN_LOOP_LOOP_PROGRAM_H_
#define KIRSCH_CODEGEN_LOOP_LOOP_PROGRAM_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/composition.h"
#include "spec/dtype.h"
#include "spec/epilogue.h"
#include "spec/instruction.h"
#include "spec/parameter.h"
#include "spec/program/affine.h"

namespace kirsch {

enum class VarType : uint8_t { kPointer, kIndex, kVector };

// A variable of a procedure: a parameter, an index, a vector register, or an array on the stack.
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

// A place in memory: `offset` elements of the pointer's dtype behind the pointer.
struct Address {
  VarId pointer = kNoVar;
  Affine offset;
};

// Says how many elements of a vector an access covers, from lane 0 on. Without an index they are `most`. With
// one they are as many as it says when the program runs: 1 at least, `most` at most.
struct LaneCount {
  LaneCount(int number) : most(number) {}  // NOLINT(google-explicit-constructor): mostly it is just a number
  LaneCount(int most, VarId index) : most(most), index(index) {}

  // True if the access surely covers all `lanes` lanes, so that it needs no mask.
  bool IsAll(int lanes) const { return index == kNoVar && most == lanes; }

  int most;
  VarId index = kNoVar;
};

// The vector operations. What one does in detail follows from the types of its variables. `count` is the
// number of elements, from lane 0 on, that are read or written in memory. The others are not touched there; a
// load makes them zero.
struct Zero {
  VarId to;
};
// Partial loads must not fault beyond the elements that exist, so printers use masks or several narrower
// loads.
struct Load {  // converts to the vector's type, which is as wide as memory's or wider; exact
  VarId to;
  Address from;
  LaneCount count;
  std::optional<Dtype> as = {};  // the type of what is at `from`, if the pointer is one to bytes: f32
};
// Reads one word and repeats it in the whole vector. A word is as wide as an accumulator: one f32, two bf16,
// or four s8. If `count` is less than that, the other elements of each word are zero.
struct Broadcast {  // a word of the vector's type, in all its words: made of `count` elements like a Load
  VarId to;
  Address from;
  int count;
  std::optional<Dtype> as = {};  // the type of what is at `from`, if the pointer is one to bytes; one element
};
// For printers of BroadcastPower, which make the bits of a power of two by shifts. The two smallest powers
// are subnormal.
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
struct Store {  // narrows as spec/element.h says, f64 by way of f32; f32 to bf16 by integers: subnormals are
                // no exception
  VarId from;
  Address to;
  LaneCount count;
  bool streams = false;  // past the caches: a whole vector, of memory's type, to an address aligned to it
  std::optional<Dtype> as = {};  // the type of what is at `to`, if the pointer is one to bytes
};
// accumulator += a * b, by the instruction that spec/instruction.h has for the operands' types. Lanes of f32,
// f64, h16 and s32 are multiplied one by one. Words add the products of their elements to the lane: bf16 x
// bf16, s16 x s16, u8 x s8 in either order, and o8 x s8 as if it were u8.
struct MultiplyAdd {
  VarId accumulator, a, b;
};
enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kMax, kMin, kDiv, kAnd, kOr, kXor };
struct Binary {  // lane by lane; max and min of floats give b where a or b is a NaN, those of integers
                 // take all for signed; kDiv: floats only; kAnd, kOr, kXor: of the bits. C compilers may make
                 // one operation of a product and a sum: see Fma.
  BinaryOp op;
  VarId to, a, b;
};
// Floats, rounded once. A product that only sums use has to be an Fma: GCC makes it one in any case, and both
// printers must give the same bits.
enum class FmaSign : uint8_t { kAdd /* a * b + c */, kSubtract /* a * b - c */, kNegate /* c - a * b */ };
struct Fma {
  VarId to, a, b, c;
  FmaSign sign = FmaSign::kAdd;
};
struct SquareRoot {  // f32 or f64
  VarId to, from;
};
struct RoundToInteger {  // f32 or f64, which it stays; infinities, NaNs and the sign of zeros stay, too
  VarId to, from;
  Rounding rounding;
};
// Multiplies by powers of two in one instruction. Code for targets without AVX-512F multiplies twice instead
// (VectorMath::Scaled).
struct Scale {  // f32 or f64: a * 2^exponent, the exponent an integer; rounded once. AVX-512F
  VarId to, a, exponent;
};
// Decodes floats of 4 and 8 bits by small tables.
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
// Takes elements of `low` and `high` by turns: those of the first half of each 16 bytes, or of the second
// half. The bits become those of `to`. With 4 elements to 16 bytes, and second = false:
//   low = a b c d, high = A B C D  ->  a A b B
struct Unpack {
  VarId to, low, high;
  bool second;
};
// u8, more than 16 lanes: orders bytes so that Unpack, which stays within 16 bytes, gives them back in their
// own order. `times` says how often they will be unpacked, once or twice. All vectors that first halves give
// come first, then all that second halves give.
struct ForUnpacking {
  VarId to, from;
  int times;
};
struct Shift {  // s32, s16 or u8 lanes, or the bits of f64, by so many bits to the left, or, if negative, to
                // the right, zeros coming in
  VarId to, from;
  int left;
};
// Changes the type of a vector and no bit of it.
struct Bits {  // f32 or s32 as one of these, bit by bit
  VarId to, from;
};
struct Select {  // f32 or f64, lane by lane: a where the comparison of x and y holds, else b
  Comparison comparison;
  VarId to, x, y, a, b;
};
struct FirstLanes {  // f32 or f64: the first `count` lanes of a, the others of b
  VarId to, a, b;
  LaneCount count;
};
struct Across {  // f32 or f64: all lanes = the sum, or the maximum, of all lanes; `op` is kAdd or kMax
  BinaryOp op;
  VarId to, from;
};
struct Fill {  // a 32-bit word in all lanes; of f64, 64 bits; of h16, 16
  VarId to;
  uint64_t word;
};
struct FillIndex {  // f32: an index below 2^24 in all lanes; `ascending`: one more in each lane
  VarId to;
  Affine first;
  bool ascending = false;
};
struct Convert {  // s32 to f32; or f32 to s32: to nearest, ties to even; anything comes of what is beyond s32
  VarId to, from;
};
struct LaneSums {  // floats or s32: lane i of `to` (4 lanes) = sum of the lanes of from[i]; 0 where from[i]
                   // is kNoVar
  VarId to;
  std::array<VarId, 4> from;
};
// Transposes in place a square whose rows are 4 vectors of 4 elements, or of 4 groups of elements. If vectors
// have more than 16 bytes, all of words, each 16 bytes of them are such a square. Of f64, 16 bytes have 2
// elements, so the square has 2 rows.
//   a0 a1 a2 a3      a0 b0 c0 d0
//   b0 b1 b2 b3  ->  a1 b1 c1 d1
//   c0 c1 c2 c3      a2 b2 c2 d2
//   d0 d1 d2 d3      a3 b3 c3 d3
struct Transpose {
  std::array<VarId, 4> rows;  // kNoVar after the last
};
// The same for 2 or 4 vectors, each of as many parts: a part of 16 bytes takes the place of an element. After
// Transpose, it completes the transposition of a square that is wider than 16 bytes.
struct TransposeParts {
  std::array<VarId, 4> rows;  // kNoVar after the last
};
// Makes groups of the reduction: elements of several rows that one instruction takes in are put side by side.
struct Interleave {  // group i of `to` = lane i of from[0], from[1], ... (0 after the last)
  VarId to;
  std::array<VarId, 4> from;  // kNoVar after the last
};
struct Deinterleave {  // in place: the even and the odd elements of both vectors, one after the other
  VarId even, odd;
};
struct GroupLane {  // each lane of `to` is lane number `lane` of its group of lanes of `from`
  VarId to, from;
  int group, lane;  // f32: 2, 4, 8 or 16 in a group
};
struct SplitPairs {  // the even and the odd elements of a vector of bf16, as f32
  VarId even, odd, from;
};

// Without it, compilers load operands so early that accumulators lose their registers.
struct Fence {};  // the compiler moves no load across it, so that what is loaded later takes no register yet
// Tells the compiler that the vector is still needed here. Then a multiplication before it must write to the
// accumulator's register, not to that of the vector. C compilers need no telling: the C printer prints
// nothing.
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
// Returns the 64 bytes that the instruction which configures tiles reads: a palette, then for each tile the
// bytes of a row and the number of rows.
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

// Stores past the caches are not ordered with other stores, so a kernel that has some ends with this.
struct Drain {};  // what was stored past the caches comes before whatever is stored later
struct Advance {
  VarId pointer;
  Affine by;
};
// Pointers, then counts, are the arguments in the order of the procedure's parameters. Offsets count elements
// of the parameter's type, to which the pointer is converted.
struct Call {
  int procedure;
  std::vector<Address> pointers;
  std::vector<Affine> counts;
};

struct Stmt;

// Sets index = of / by, rounded down, or, if `left`, what is left of that division. At least `min_tail` is
// left, or all there is if that is less: so no last tile is too short to be fast. For example, 100 by 32 is
// 3, and 4 are left; with min_tail = 16 it is 2, and 36 are left.
struct Divide {
  VarId index;
  Affine of;
  int64_t by;
  bool left = false;
  int64_t min_tail = 0;
};
// Sets index = the s32 at `from`, or the closest of 0 to `below` - 1.
struct LoadIndex {
  VarId index;
  Address from;
  int64_t below;
};
// The trips run in ascending order. A count that is a variable may be 0; ProcedureBuilder::Loop leaves out
// loops whose count is known to be 0.
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
// Runs the body on the thread whose number is task % n_threads. If LoopProgram::block is not 0, it runs the
// body if the task's block is among the wanted ones. Only in the entry.
struct OnThread {
  Affine task;
  std::vector<Stmt> body;
};
// Runs the body with index = the number of each wanted block, of `count` in all; see LoopProgram::block. Only
// in the entry.
struct ForBlocks {
  VarId index;
  int64_t count;
  std::vector<Stmt> body;
};
struct InPhase {  // body, if the entry is called for this phase; only in the entry
  int phase;
  std::vector<Stmt> body;
};

// A new operation is an alternative here, and a case in loop_text.cc and in both printers, which do not
// compile without it.
struct Stmt {
  std::variant<Zero, Load, Broadcast, BroadcastPower, LoadNibbles, Store, MultiplyAdd, Binary, Fma,
               SquareRoot, RoundToInteger, Scale, Lookup, FillBytes, LookupPair, Unpack, ForUnpacking, Shift,
               Bits, Select, FirstLanes, Across, Fill, FillIndex, Convert, LaneSums, Transpose,
               TransposeParts, Interleave, Deinterleave, GroupLane, SplitPairs, TileConfigure, TileRelease,
               TileZero, TileLoad, TileStore, TileMultiplyAdd, Fence, Keep, Prefetch, ToLine, Drain, Advance,
               Call, Divide, LoadIndex, For, IfAny, Switch, OnThread, ForBlocks, InPhase>
      op;
};

// A function of the printed code: the entry, a kernel, a choice that ShareChoices has moved, or what packs
// constants.
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

// Says how constants are prepacked. procedures[procedure], called with (constants..., packed), packs them
// once; the entry takes what it wrote. A contraction's operand is replaced by its copy. Of a graph's kernel,
// all constants are in one buffer.
struct Packing {
  int place = 0;      // of `packed` among the tensors
  int64_t bytes = 0;  // of the packed buffer, a multiple of 64, to which it is aligned
  int procedure = 0;
  bool calls = false;  // the procedure is an entry of its own, which calls those that copy
  std::vector<EntryTensor> constants;
};

// The names of the entry's parameters behind the tensors. Lower() avoids them when it names tensors.
inline constexpr char kThread[] = "thread", kThreads[] = "n_threads";
inline constexpr char kPhase[] = "phase", kPacked[] = "packed";
inline constexpr char kFirstColumn[] = "first_column", kEndColumn[] = "end_column";

// The name of a kernel's parameter SizeSymbol::kAdds. MakeOutline finds the parameter by this name.
inline constexpr char kAddsParameter[] = "add";

// Says which parameters the public function has even if its code needs none of them. So its parameters follow
// from what the user asked for, not from what a search found.
struct EntryParameters {
  bool scratch = false, threads = false;
  bool phases = false;  // shared memory and the phase
  // A spec's operands by the caller's names, in his order; empty: in the spec's own.
  std::vector<Parameter> tensors = {};
};

// All that a printer needs: procedures, and what the entry's callers have to give it.
struct LoopProgram {
  std::string name;  // the entry's
  // procedures[0] is the entry. Only the entry, the procedure that packs a graph's constants, and those that
  // ShareChoices makes call others; none calls an entry. Procedures of ShareChoices come behind all that they
  // call.
  std::vector<Procedure> procedures;
  std::vector<std::string> features;  // ISA features the code needs, LLVM's names
  bool masks = false;         // masked accesses by mask registers, else by AVX2's maskload and maskstore
  int64_t scratch_bytes = 0;  // per thread, 64-byte aligned; 0: none is used
  int64_t tasks = 1;  // tasks that threads share, at most in any phase; 1: `thread` and `n_threads` are not
                      // used unless there are phases
  // Not 0: tasks are blocks of so many of the user's columns. Then `thread` and `n_threads` are the first
  // wanted column and the end of the wanted ones. A block is computed if it begins among them.
  int64_t block = 0;
  std::optional<Packing> packing;
  // The entry's first parameters, in the caller's order: inputs that are not packed; `packed`, if something
  // is; and out. Then: scratch, thread, n_threads, [sizes], [`shared`, `phase`]. The last two are there if
  // there are several phases or `always` says so. Every thread calls the entry for each phase, when all are
  // done with the one before. The public function begins with the sizes. It leaves out what TakesScratch,
  // TakesThreads and TakesPhases deny (CParameters in c_signature.h).
  std::vector<EntryTensor> tensors;
  int phases = 1;
  std::vector<std::string> sizes;  // names of those that callers say; only with a single phase
  int64_t shared_bytes = 0;        // of memory that all threads share, 64-byte aligned
  EntryParameters always;

  // The entry's parameters by their numbers, which follow from the order above.
  VarId scratch() const { return static_cast<VarId>(tensors.size()); }
  VarId thread() const { return scratch() + 1; }
  VarId threads() const { return scratch() + 2; }
  VarId run_time_size(size_t number) const { return scratch() + 3 + static_cast<VarId>(number); }
  VarId shared() const { return run_time_size(sizes.size()); }
  VarId phase() const { return shared() + 1; }

  // True if several threads have something to do.
  bool SharesWork() const { return tasks > 1 || phases > 1 || block != 0; }

  // True if the public function has these parameters.
  bool TakesScratch() const { return scratch_bytes > 0 || always.scratch; }
  bool TakesThreads() const { return SharesWork() || always.threads; }
  bool TakesPhases() const { return phases > 1 || always.phases; }

  bool HasFeature(std::string_view feature) const {
    return std::ranges::find(features, feature) != features.end();
  }
};

// Returns the name of the public function that prepacks.
inline std::string PackName(const LoopProgram& program) { return program.name + "_pack"; }

// True if the procedure is the one that packs a graph's constants.
inline bool PacksConstants(const LoopProgram& program, size_t procedure) {
  return program.packing && program.packing->calls &&
         program.packing->procedure == static_cast<int>(procedure);
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_LOOP_PROGRAM_H_
