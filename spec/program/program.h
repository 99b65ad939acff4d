// SPDX-License-Identifier: Apache-2.0
// Defines one form of program for everything that Kirsch computes: which kernel runs on which memory, in
// which order. impl_program.h and plan_program.h write it from decisions. The interpreter, the lowering, the
// printer and the plan of memory handle the few shapes below, and know no rewrite by its name.
//
// Example, as PrintProgram has it: an outer loop over 16 tiles of rows with one kernel inside, which runs
// along a reduction of 64:
//   loop i0 < 16:
//     k0(b0 + i0 * 384, b1, b2 + i0 * 96; 64)
#ifndef KIRSCH_SPEC_PROGRAM_PROGRAM_H_
#define KIRSCH_SPEC_PROGRAM_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "spec/dtype.h"
#include "spec/program/affine.h"
#include "spec/program/kernel_shape.h"
#include "spec/program/memory.h"
#include "spec/program/size.h"

namespace kirsch {

// A number that may depend on the program's symbols: `of` / `by`, rounded down; or, if `left`, the remainder
// of that division. `min_tail` moves a part of the last whole tile to the remainder: at least `min_tail` is
// left, or everything if there is less than that.
//
// Example: of = 17, by = 8, min_tail = 3: (17 - 3) / 8 = 1 tile, and 9 are left. Without min_tail: 2 tiles, 1
// left.
struct Count {
  Affine of;
  int64_t by = 1;
  bool left = false;
  int64_t min_tail = 0;

  bool IsConstant() const { return of.IsConstant(); }
  int64_t constant() const { return Of(of.constant); }  // if it is constant
  // The number for one value of `of`.
  int64_t Of(int64_t number) const {
    const int64_t whole = number < min_tail ? 0 : (number - min_tail) / by;
    return left ? number - whole * by : whole;
  }
  friend bool operator==(const Count&, const Count&) = default;
};
inline Count Whole(int64_t number) { return {Constant(number), 1, false}; }

// Where an operand of a kernel begins: a buffer, and an offset in elements of the operand's own type.
struct OperandPlace {
  int buffer = -1;
  Affine offset;
};

struct Node;
using Body = std::vector<Node>;

// Runs `body` for variable = 0 .. trips - 1; if `first` is not empty, it replaces the body of trip 0. If the
// division that gives the trips leaves something, `rest` then runs for variable = trips: the boundary tile.
struct Loop {
  VarId variable = kNoVar;
  Count trips;
  Body first, body, rest;
};

// Runs `body` for variable = value: a size that follows from the symbols.
struct Let {
  VarId variable = kNoVar;
  Count value;
  Body body;
};

// Runs the one of `bodies` that is for the value of `variable`: the first is for `least`, each further one
// for one more.
struct OneOf {
  VarId variable = kNoVar;
  int64_t least = 1;
  std::vector<Body> bodies;
};

// Runs `body` on one thread only: thread number task % threads. If the program has blocks, it runs instead on
// the threads that want the block whose first column is the task. A loop over tasks is a shared loop. The
// tasks of a phase are numbered one after the other. Tasks do not nest.
struct Task {
  Affine task;
  Body body;
};

// Runs `body` in one phase: when it begins, all threads are done with the phases before. Phases are
// outermost, in ascending order. A thread's own memory keeps nothing from one phase to the next.
struct Phase {
  int phase = 0;
  Body body;
};

// Runs a kernel of the program on these operands. `count` is the length of a tile's reduction, the number of
// a row program's rows, or how much there is to copy (PackShape::outer); 1 for all others. `count`, `last`
// and `adds` are the values of kCount, kLast and kAdds.
struct KernelRun {
  int kernel = -1;
  std::vector<OperandPlace> at;
  Count count;
  Affine last = {};  // at least 1, where the kernel takes it
  Affine adds = {};
};

// One statement; the variant's alternatives are all that there are.
struct Node {
  std::variant<Loop, Let, OneOf, Task, Phase, KernelRun> shape;
};

// A whole program, with its memory planned (PlaceBuffers).
struct Program {
  // The memory of one value; every value has one buffer. Buffers of one kind of memory that are in use at the
  // same time do not overlap.
  struct Buffer {
    std::string name;           // of the caller's: his own; else for people
    Dtype dtype = Dtype::kF32;  // of the caller's; what others hold, kernels say
    Memory memory = Memory::kCaller;
    bool stored = false;    // the program writes it
    bool constant = false;  // the caller's: known ahead, and only read by what is made ahead
    int64_t bytes = 0;      // the most over all values of the symbols; of the caller's, to its last element
    int64_t offset = 0;     // bytes, in its memory, but for the caller's
    // True for a copy that a tree of tiles makes for itself, or for a row's kept values. It is in use only
    // where it is made, so its writer has laid it out, beside others of the same tree.
    bool temporary = false;
  };

  // The parameters: each is the variable of its place. kStride of kernels is the first.
  std::vector<SymbolRange> symbols;
  int variables = 0;  // are numbered 0 .. variables - 1
  std::vector<Buffer> buffers;
  std::vector<KernelShape> kernels;  // each once: kernels that are equal are the same one
  // Makes of the constant operands whatever the body reads instead, once before all calls. Only the prepack
  // reads those operands, and only it writes packed memory.
  Body prepack;
  Body body;
  int64_t tasks = 1;  // at most in any phase; 1: no thread but the first has anything to do
  int phases = 1;
  // If it is not 0: tasks are blocks of so many columns of the caller's out, and a task's number is its first
  // column.
  int64_t block = 0;
  // Bytes of a thread's own memory, of the memory of all threads, and of packed memory. All are aligned to 64
  // bytes.
  int64_t own_bytes = 0, shared_bytes = 0, packed_bytes = 0;
  // True if the caller's buffers have names of his own: those of a graph. Otherwise they are a contraction's
  // operands, and the last `arguments` of them belong to its epilogue.
  bool named = false;
  int arguments = 0;

  // True if there is anything to do for more than one thread.
  bool SharesWork() const { return tasks > 1 || phases > 1 || block != 0; }
};

// Visits the runs of a body in the order of its text. Each is visited once, however often it runs.
void ForEachRun(const Body& body, const std::function<void(const KernelRun&)>& visit);

// Prints for people where each value lies that is not the caller's: a line each, the largest first.
std::string PrintMemory(const Program& program);

// Prints for people a line for each node. Equal programs have equal texts.
std::string PrintProgram(const Program& program);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PROGRAM_H_
