// SPDX-License-Identifier: Apache-2.0
#include "spec/program/program_memory.h"

#include <algorithm>
#include <boost/icl/interval_map.hpp>
#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace kirsch {
namespace {

namespace icl = boost::icl;

// Finds lifetimes in one walk over the text. `time_` is the number of the next run.
class Lifetimes {
 public:
  explicit Lifetimes(const Program& program) : program_(program), lives_(program.buffers.size()) {}

  std::vector<std::optional<Lifetime>> Find() && {
    Use(program_.body);
    // A value that a loop makes for later, trip after trip, exists while any trip of the loop runs.
    for (std::optional<Lifetime>& life : lives_)
      for (const auto& [begin, end] : loops_)
        if (life && life->first >= begin && life->first < end && life->last >= end) life->first = begin;
    return std::move(lives_);
  }

 private:
  void Use(const Body& body) {
    for (const Node& node : body) std::visit([&](const auto& shape) { Use(shape); }, node.shape);
  }
  void Use(const Let& let) { Use(let.body); }
  // All bodies have the same numbers, since one of them runs.
  void Use(const OneOf& one_of) {
    std::vector<const Body*> parts;
    for (const Body& body : one_of.bodies) parts.push_back(&body);
    UseOne(parts);
  }
  void Use(const Task& task) { Use(task.body); }
  void Use(const Phase& phase) { Use(phase.body); }

  // A run uses its operands now. A buffer that it reads before anything has written it in this trip is handed
  // on from trip to trip.
  void Use(const KernelRun& run) {
    const KernelShape& kernel = program_.kernels[static_cast<size_t>(run.kernel)];
    for (size_t i = 0; i < run.at.size(); ++i) {
      const OperandPlace& place = run.at[i];
      const auto buffer = static_cast<size_t>(place.buffer);
      if (!lives_[buffer]) lives_[buffer] = Lifetime{time_, time_};
      lives_[buffer]->last = std::max(lives_[buffer]->last, time_);
      for (const Affine::Term& term : place.offset.terms) spread_.insert({term.index, place.buffer});
      if (!IsWritten(kernel, i) && !written_.contains(place.buffer)) carried_.insert(place.buffer);
    }
    // Buffers count as written only after all operands were read: a kernel may read and write one buffer.
    for (size_t i = 0; i < run.at.size(); ++i)
      if (IsWritten(kernel, i)) written_.insert(run.at[i].buffer);
    ++time_;
  }

  void Use(const Loop& loop) {
    const int begin = time_;
    std::set<int> carried_before;
    std::swap(carried_, carried_before);
    UseOne({&loop.first, &loop.body, &loop.rest});
    const int end = time_;
    loops_.push_back({begin, end});
    // A buffer from before the loop, or one that is handed on, is needed to the loop's end, as every trip may
    // read it. A buffer that is handed on is needed from the loop's beginning, too.
    for (size_t i = 0; i < lives_.size(); ++i) {
      std::optional<Lifetime>& life = lives_[i];
      if (!life || life->last < begin) continue;
      const int buffer = static_cast<int>(i);
      const bool handed_on = carried_.contains(buffer) || spread_.contains({loop.variable, buffer});
      if (life->first < begin || handed_on) life->last = std::max(life->last, end - 1);
      if (handed_on) life->first = std::min(life->first, begin);
    }
    carried_.merge(carried_before);
  }

  // Walks parts that take turns, each from the same number on. The next number is behind the longest part.
  void UseOne(const std::vector<const Body*>& parts) {
    const int begin = time_;
    int end = begin;
    const std::set<int> written_before = written_;
    for (const Body* part : parts) {
      time_ = begin;
      written_ = written_before;
      Use(*part);
      end = std::max(end, time_);
    }
    time_ = end;
  }

  const Program& program_;
  std::vector<std::optional<Lifetime>> lives_;
  int time_ = 0;
  std::vector<std::pair<int, int>> loops_;  // where they begin and end
  std::set<std::pair<VarId, int>> spread_;  // (v, b): buffer b is used at places that hang on variable v
  std::set<int> written_;                   // so far, by this trip or before
  std::set<int> carried_;                   // read by this trip before it has written to it
};

// The bytes that are taken, by time: by lifetimes for a thread's own values, by phases for shared ones.
using Places = icl::interval_set<int64_t>;
using TakenPlaces = icl::interval_map<int, Places>;

// Takes the lowest bytes that no value has which lives at the same time.
int64_t TakeLowest(int64_t bytes, const Lifetime& life, TakenPlaces* taken) {
  // Everything that is taken at any time of the lifetime, in one set.
  const auto lives = icl::discrete_interval<int>::closed(life.first, life.last);
  Places at_some_time;
  for (auto [at, end] = taken->equal_range(lives); at != end; ++at) at_some_time += at->second;
  // Goes up through the gaps until one is large enough.
  int64_t place = 0;
  for (const auto& bytes_taken : at_some_time) {
    if (place + bytes <= bytes_taken.lower()) break;
    place = bytes_taken.upper();
  }
  Places own;
  own += icl::discrete_interval<int64_t>::right_open(place, place + bytes);
  *taken += std::make_pair(lives, own);
  return place;
}

class MemoryPlanner {
 public:
  explicit MemoryPlanner(Program* program)
      : program_(*program), lives_(FindLifetimes(*program)), phases_(FindPhases(*program)) {
    ForEachRun(program->prepack, [&](const KernelRun& run) { prepacked_.insert(run.at.back().buffer); });
  }

  // Large values first: small ones then fit into the gaps.
  void Place() {
    std::vector<size_t> values;
    for (size_t i = 0; i < program_.buffers.size(); ++i)
      if (program_.buffers[i].memory != Memory::kCaller && !program_.buffers[i].temporary)
        values.push_back(i);
    std::ranges::stable_sort(
        values, [&](size_t a, size_t b) { return program_.buffers[a].bytes > program_.buffers[b].bytes; });
    for (size_t value : values) PlaceValue(value);
    program_.shared_bytes = Bytes(Memory::kShared);
    program_.packed_bytes = Bytes(Memory::kPacked);
    program_.own_bytes = Bytes(Memory::kOwn);
    PlaceTemporaries();
  }

 private:
  // The kind of memory follows from who needs the value: later calls, several phases, or one thread in one
  // phase.
  void PlaceValue(size_t value) {
    Program::Buffer& buffer = program_.buffers[value];
    const std::optional<Lifetime>& phases = phases_[value];
    buffer.memory = prepacked_.contains(static_cast<int>(value)) ? Memory::kPacked
                    : phases && phases->first < phases->last     ? Memory::kShared
                                                                 : Memory::kOwn;
    buffer.bytes = WholeLines(buffer.bytes);
    const std::optional<Lifetime> life = LifeOf(value);
    if (life) buffer.offset = TakeLowest(buffer.bytes, *life, &taken_[buffer.memory]);
  }

  // The lifetime in the terms of the value's memory: runs, or phases. Nothing if its contents are not used.
  // Packed values live for ever, so all have one lifetime.
  std::optional<Lifetime> LifeOf(size_t value) const {
    switch (program_.buffers[value].memory) {
      case Memory::kOwn:
        return lives_[value];
      case Memory::kShared:
        return phases_[value];
      case Memory::kPacked:  // for all calls
      case Memory::kCaller:
        break;
    }
    return Lifetime{};
  }

  // Temporaries come behind the thread's other values. Their writers have laid them out from 0 on, so a shift
  // is enough.
  void PlaceTemporaries() {
    const int64_t behind = program_.own_bytes;
    for (Program::Buffer& buffer : program_.buffers) {
      if (!buffer.temporary) continue;
      buffer.offset += behind;
      program_.own_bytes = std::max(program_.own_bytes, buffer.offset + buffer.bytes);
    }
  }

  int64_t Bytes(Memory memory) const {
    int64_t bytes = 0;
    for (const Program::Buffer& buffer : program_.buffers)
      if (buffer.memory == memory && !buffer.temporary) bytes = std::max(bytes, buffer.offset + buffer.bytes);
    return bytes;
  }

  Program& program_;
  const std::vector<std::optional<Lifetime>> lives_, phases_;
  std::set<int> prepacked_;
  std::map<Memory, TakenPlaces> taken_;
};

}  // namespace

std::vector<std::optional<Lifetime>> FindLifetimes(const Program& program) {
  return Lifetimes(program).Find();
}

std::vector<std::optional<Lifetime>> FindPhases(const Program& program) {
  std::vector<std::optional<Lifetime>> phases(program.buffers.size());
  const auto use = [&](const Body& body, int phase) {
    ForEachRun(body, [&](const KernelRun& run) {
      for (const OperandPlace& place : run.at) {
        std::optional<Lifetime>& known = phases[static_cast<size_t>(place.buffer)];
        if (!known) known = Lifetime{phase, phase};
        known->last = std::max(known->last, phase);
      }
    });
  };
  if (program.phases == 1) {
    use(program.body, 0);
  } else {
    for (const Node& node : program.body) {
      const Phase& phase = std::get<Phase>(node.shape);
      use(phase.body, phase.phase);
    }
  }
  return phases;
}

void PlaceBuffers(Program* program) { MemoryPlanner(program).Place(); }

}  // namespace kirsch
