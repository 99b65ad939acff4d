// SPDX-License-Identifier: Apache-2.0
// Writing a program, node by node.
#ifndef KIRSCH_SPEC_PROGRAM_PROGRAM_BUILDER_H_
#define KIRSCH_SPEC_PROGRAM_PROGRAM_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "spec/program/program.h"

namespace kirsch {

class ProgramBuilder {
 public:
  ProgramBuilder() { bodies_.push_back(&program_.body); }
  ProgramBuilder(const ProgramBuilder&) = delete;  // bodies_ points into the program
  ProgramBuilder& operator=(const ProgramBuilder&) = delete;

  // What is known of the program besides its nodes; and the program, when it is done.
  Program& program() { return program_; }
  Program Build() && { return std::move(program_); }

  // Its number.
  int AddBuffer(Program::Buffer buffer) {
    program_.buffers.push_back(std::move(buffer));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  void AddRun(KernelShape kernel, std::vector<OperandPlace> at, Count count = Whole(1), Affine last = {},
              Affine adds = {}) {
    Add(KernelRun{KernelNumber(std::move(kernel)), std::move(at), std::move(count), std::move(last),
                  std::move(adds)});
  }
  // `body(variable)` writes what is in the loop.
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
  // `body(variable)` writes what is done for variable = value.
  template <typename Write>
  void AddLet(Count value, const Write& body) {
    Let let{program_.variables++, std::move(value), {}};
    Into(&let.body, [&] { body(let.variable); });
    Add(std::move(let));
  }
  // `body(value)` writes what is done where the variable has that value, from `least` to `most`.
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
  // What `body` writes comes into the prepack.
  template <typename Write>
  void Prepack(const Write& body) {
    Into(&program_.prepack, body);
  }

 private:
  int KernelNumber(KernelShape kernel) {
    const auto known = std::find(program_.kernels.begin(), program_.kernels.end(), kernel);
    const auto number = static_cast<int>(known - program_.kernels.begin());
    if (known == program_.kernels.end()) program_.kernels.push_back(std::move(kernel));
    return number;
  }
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
