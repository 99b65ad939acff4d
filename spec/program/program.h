// SPDX-License-Identifier: Apache-2.0
// One program for everything that Kirsch computes: which kernel runs on which memory, in which order. It is
// built from decisions (impl_program.h, plan_program.h); the interpreter, the lowering, the printer and the
// plan of memory know the few shapes below, and no rewrite by its name.
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

namespace kirsch {

// A number that may follow from sizes known only when the program runs: `of` / `by`, rounded down; or, if
// `left`, what is left of that division. At least `min_tail` is left, or all there is if that is less.
struct Count {
  Affine of;
  int64_t by = 1;
  bool left = false;
  int64_t min_tail = 0;

  bool IsConstant() const { return of.IsConstant(); }
  int64_t constant() const { return Of(of.constant); }  // if it is constant
  // What it is if `of` is `number`.
  int64_t Of(int64_t number) const {
    const int64_t whole = number < min_tail ? 0 : (number - min_tail) / by;
    return left ? number - whole * by : whole;
  }
  friend bool operator==(const Count&, const Count&) = default;
};
inline Count Whole(int64_t number) { return {Constant(number), 1, false}; }

// Where an operand of a kernel begins: so many elements of the operand's own type behind the buffer's
// beginning.
struct OperandPlace {
  int buffer = -1;
  Affine offset;
};

struct Node;
using Body = std::vector<Node>;

// `body` for variable = 0 .. trips - 1, of which `first`, if there is one, is the body of trip 0. Then, if
// something is left of the division that gives the trips, `rest` for variable = trips: the boundary tile.
struct Loop {
  VarId variable = kNoVar;
  Count trips;
  Body first, body, rest;
};

// `body` for variable = value: a size that follows from sizes known at run time only.
struct Let {
  VarId variable = kNoVar;
  Count value;
  Body body;
};

// The one of `bodies` that is for the value of `variable`: the first is for `least`, the next for one more.
struct OneOf {
  VarId variable = kNoVar;
  int64_t least = 1;
  std::vector<Body> bodies;
};

// `body` on one thread only: the one whose number is task % threads, or, if the program has blocks, on those
// that want the block whose first column is the task. A loop over tasks is a shared loop. Tasks of a phase
// are numbered one after the other, and there are none inside of tasks.
struct Task {
  Affine task;
  Body body;
};

// `body` in one phase: when it begins, all threads are done with the phases before. Only outermost, in
// ascending order; no memory of a thread's own outlives one.
struct Phase {
  int phase = 0;
  Body body;
};

// A kernel of the program's, on these operands. `count`: the length of a tile's reduction, a row program's
// rows, or what there is to copy (PackShape::runtime_extent); else 1.
struct KernelRun {
  int kernel = -1;
  std::vector<OperandPlace> at;
  Count count;
  // Of a kernel's last vector (TileShape::runtime_n_tail), or of its rows (RowShape::any_columns), so many
  // columns exist: 1 at least.
  Affine last = {};
  Affine adds = {};  // not 0: a tile that may accumulate does
};

struct Node {
  std::variant<Loop, Let, OneOf, Task, Phase, KernelRun> shape;
};

// A variable whose value the caller gives: a size, from `least` to `most`.
struct RunTimeSize {
  std::string name;
  VarId variable = kNoVar;
  int64_t least = 1, most = 1;
};

struct Program {
  // Memory of one value: every value has one buffer. Buffers of one memory that are in use at the same time
  // share no byte.
  struct Buffer {
    std::string name;           // of the caller's: his own; else for people
    Dtype dtype = Dtype::kF32;  // of the caller's; what others hold, kernels say
    Memory memory = Memory::kCaller;
    bool stored = false;    // the program writes it
    bool constant = false;  // the caller's: known ahead, and only read by what is made ahead
    int64_t bytes = 0;      // the most over all run-time sizes; of the caller's, to its last element
    int64_t offset = 0;     // bytes, in its memory, but for the caller's
    // A copy that a tree of tiles makes for itself, or a row's kept values: in use only where it is made, so
    // its writer has laid it out, beside others of the same tree.
    bool temporary = false;
  };

  std::vector<RunTimeSize> sizes;  // symbolic strides of kernels are the first one
  int variables = 0;               // are numbered 0 .. variables - 1
  std::vector<Buffer> buffers;
  std::vector<KernelShape> kernels;  // each once: kernels that are equal are the same one
  // What is made of constant operands, once for all calls: it alone reads those, and alone writes what is
  // packed.
  Body prepack;
  Body body;
  int64_t tasks = 1;  // at most in any phase; 1: no thread but the first has anything to do
  int phases = 1;
  // Not 0: tasks are blocks of so many columns of the caller's out, and each is numbered by its first column.
  int64_t block = 0;
  // Bytes of a thread's own memory, of all threads', and of what is made ahead; all 64-byte aligned.
  int64_t own_bytes = 0, shared_bytes = 0, packed_bytes = 0;
  // The caller's buffers have names of his own: a graph's. Else they are a contraction's operands, the last
  // `arguments` of them those of its epilogue.
  bool named = false;
  int arguments = 0;

  // Is there anything to do for several threads?
  bool SharesWork() const { return tasks > 1 || phases > 1 || block != 0; }
};

// Visits the runs of a body in the order of its text, each once, however often it runs.
void ForEachRun(const Body& body, const std::function<void(const KernelRun&)>& visit);

// For people: a line for each value that is not the caller's, the largest first: where it lies.
std::string PrintMemory(const Program& program);

// For people: a line for each node. Equal programs have equal texts.
std::string PrintProgram(const Program& program);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PROGRAM_H_
