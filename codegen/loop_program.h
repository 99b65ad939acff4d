// The loop program: what an Impl is lowered to, and what both printers (LLVM IR, C with intrinsics) print.
//
// A program is a list of procedures; the first is the entry, with the parameters of EntryParameter. A
// procedure is straight-line vector code, counted loops and calls over typed, mutable variables: pointers,
// indices and vector registers. There are no scalars: a single element is a vector access of count 1. All
// offsets and strides are in elements of the pointer's dtype, and constants wherever they can be.
#ifndef KIRSCH_CODEGEN_LOOP_PROGRAM_H_
#define KIRSCH_CODEGEN_LOOP_PROGRAM_H_

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "spec/dtype.h"

namespace kirsch {

using VarId = int;  // index into Procedure::vars
inline constexpr VarId kNoVar = -1;

enum class VarType : uint8_t { kPointer, kIndex, kVector };

struct Var {
  std::string name;  // unique in the procedure, a C identifier
  VarType type = VarType::kIndex;
  Dtype dtype = Dtype::kF32;  // of the pointee or the lanes
  int lanes = 0;              // kVector
  bool stored = false;        // kPointer: the procedure writes through it
};

// constant + sum of coefficient * index.
struct Affine {
  struct Term {
    VarId index = kNoVar;
    int64_t coefficient = 0;
  };
  int64_t constant = 0;
  std::vector<Term> terms;
};

struct Address {
  VarId pointer = kNoVar;
  Affine offset;
};

// The vector operations. `count`: lanes that are read or written in memory, from lane 0; the others are not
// touched in memory, and read as zero.
struct Zero {
  VarId to;
};
struct Load {
  VarId to;
  Address from;
  int count;
};
struct Broadcast {
  VarId to;
  Address from;
};
struct Store {
  VarId from;
  Address to;
  int count;
};
struct Fma {  // accumulator += a * b
  VarId accumulator, a, b;
};
struct Add {
  VarId to, a, b;
};
struct LaneSums {  // lane i of `to` (4 lanes) = sum of the lanes of from[i]; 0 where from[i] is kNoVar
  VarId to;
  std::array<VarId, 4> from;
};
struct Transpose {  // 4 vectors of 4 lanes, as the rows of a matrix, in place
  std::array<VarId, 4> rows;
};

struct Fence {};   // the compiler moves no load across it, so that what is loaded later takes no register yet
struct Prefetch {  // the line at `at`, into L1
  Address at;
};
struct Advance {
  VarId pointer;
  int64_t by;
};
struct Call {  // pointers then counts are the procedure's parameters
  int procedure;
  std::vector<Address> pointers;
  std::vector<int64_t> counts;
};

struct Stmt;

struct For {  // body with index = 0 .. count - 1
  VarId index;
  Affine count;
  std::vector<Stmt> body;
};
struct OnThread {  // body, on the thread whose number is task % n_threads; only in the entry
  Affine task;
  std::vector<Stmt> body;
};

struct Stmt {
  std::variant<Zero, Load, Broadcast, Store, Fma, Add, LaneSums, Transpose, Fence, Prefetch, Advance, Call,
               For, OnThread>
      op;
};

struct Procedure {
  std::string name;
  std::vector<Var> vars;  // the parameters first: pointers, then indices
  int num_parameters = 0;
  std::vector<Stmt> body;
};

// Parameters of the entry, in this order: void NAME(const T* lhs, const T* rhs, T* out, T* scratch, size_t
// thread, size_t n_threads). Operands are those of the spec.
struct EntryParameter {
  static constexpr VarId kLhs = 0, kRhs = 1, kOut = 2, kScratch = 3, kThread = 4, kThreads = 5;
  static constexpr int kCount = 6;
};

struct LoopProgram {
  std::string name;                   // the entry's
  std::vector<Procedure> procedures;  // procedures[0] is the entry; it is the only one that calls others
  std::vector<std::string> features;  // ISA features the code needs, LLVM's names
  bool masks = false;         // masked accesses by mask registers, else by AVX2's maskload and maskstore
  int64_t scratch_bytes = 0;  // per thread, 64-byte aligned; 0: none is used
  int64_t tasks = 1;          // tasks that threads share; 1: `thread` and `n_threads` are not used
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_PROGRAM_H_
