// SPDX-License-Identifier: Apache-2.0
// Writes a program node by node. Callers nest functions as the program nests bodies, so no caller handles
// half-built nodes; equal kernels become one.
#ifndef KIRSCH_SPEC_PROGRAM_PROGRAM_BUILDER_H_
#define KIRSCH_SPEC_PROGRAM_PROGRAM_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "spec/program/program.h"

namespace kirsch {

// Owns the program until Build. Not thread-safe.
class ProgramBuilder {
 public:
  ProgramBuilder() { bodies_.push_back(&program_.body); }
  ProgramBuilder(const ProgramBuilder&) = delete;  // bodies_ points into the program
  ProgramBuilder& operator=(const ProgramBuilder&) = delete;

  // Gives access to the parts of the program that are not nodes: sizes, buffers, phases.
  Program& program() { return program_; }
  Program Build() && { return std::move(program_); }

  // Adds a buffer and returns its number.
  int AddBuffer(Program::Buffer buffer) {
    program_.buffers.push_back(std::move(buffer));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  // Adds a run of the kernel at the present place. The arguments are those of KernelRun.
  void AddRun(KernelShape kernel, std::vector<OperandPlace> at, Count count = Whole(1), Affine last = {},
              Affine adds = {}) {
    Add(KernelRun{KernelNumber(std::move(kernel)), std::move(at), std::move(count), std::move(last),
                  std::move(adds)});
  }
  // Adds a loop over a new variable; `body(variable)` writes its body, `rest(variable)` the part for what is
  // left of the division.
  template <typename Write>
  void AddLoop(Count trips, const Write& body) {
    AddLoop(std::move(trips), body, [](VarId) {});
  }
  template <typename Write, typename WriteRest>
  void AddLoop(Count trips, const Write& body, const WriteRest& rest) {
    Loop loop{program_.variables++, std::move(trips), {}, {}, {}};
    Into(&loop.body, [&] { body(loop.variable); });
    Into(&loop.rest, [&] { rest(loop.variable); });
    Add(std::move(loop));
  }
  // Adds a variable that equals `value`; `body(variable)` writes what is done with it.
  template <typename Write>
  void AddLet(Count value, const Write& body) {
    Let let{program_.variables++, std::move(value), {}};
    Into(&let.body, [&] { body(let.variable); });
    Add(std::move(let));
  }
  // Adds a choice by the value of `variable`, which is from `least` to `most`; `body(value)` writes the code
  // for each of these values.
  template <typename Write>
  void AddOneOf(VarId variable, int64_t least, int64_t most, const Write& body) {
    OneOf one_of{variable, least, std::vector<Body>(static_cast<size_t>(most - least + 1))};
    for (int64_t value = least; value <= most; ++value)
      Into(&one_of.bodies[static_cast<size_t>(value - least)], [&] { body(value); });
    Add(std::move(one_of));
  }
  template <typename Write>
  void AddTask(Affine task, const Write& body) {
    Task node{std::move(task), {}};
    Into(&node.body, body);
    Add(std::move(node));
  }
  template <typename Write>
  void AddPhase(int phase, const Write& body) {
    Phase node{phase, {}};
    Into(&node.body, body);
    Add(std::move(node));
  }
  // Puts what `body` writes into the prepack, wherever the caller is.
  template <typename Write>
  void Prepack(const Write& body) {
    Into(&program_.prepack, body);
  }

 private:
  // The number of this kernel; equal ones have the same number, so code is emitted for each kernel once.
  int KernelNumber(KernelShape kernel) {
    const auto known = std::ranges::find(program_.kernels, kernel);
    const auto number = static_cast<int>(known - program_.kernels.begin());
    if (known == program_.kernels.end()) program_.kernels.push_back(std::move(kernel));
    return number;
  }
  // While `write` runs, `body` is the place to which nodes are added.
  template <typename Write>
  void Into(Body* body, const Write& write) {
    bodies_.push_back(body);
    write();
    bodies_.pop_back();
  }
  template <typename Shape>
  void Add(Shape shape) {
    bodies_.back()->push_back(Node{std::move(shape)});
  }

  Program program_;
  std::vector<Body*> bodies_;  // innermost last
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PROGRAM_BUILDER_H_
