#include "search/memory_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "spec/check.h"

namespace kirsch {
namespace {

constexpr int64_t kLine = 64;

// Stages by the order in which they run.
struct Life {
  int first = 0, last = 0;
  bool Meets(const Life& other) const { return first <= other.last && other.first <= last; }
};

class Lives {
 public:
  explicit Lives(const Plan& plan) {
    struct Loop {
      int tiles, end;
    };
    std::vector<Loop> loops;
    for (const Group& group : plan.groups) loops.push_back(Loop{UseGroup(group), time_});
    // What a group makes for others, tile after tile, is there while any tile is worked on.
    for (auto& [value, life] : lives_)
      for (const Loop& loop : loops)
        if (life.first >= loop.tiles && life.first < loop.end && life.last >= loop.end)
          life.first = loop.tiles;
  }

  Life at(int value) const { return lives_.at(value); }

 private:
  // The time at which the tiles begin.
  int UseGroup(const Group& group) {
    Use(group.before);
    const int items = time_;
    Use(group.once);
    const int tiles = time_;
    Use(group.stages);
    // A tile after the whole ones has the same stages.
    const int end = time_;
    time_ = tiles;
    Use(group.rest);
    time_ = end;
    // What is there before a tile is needed by the next one, too.
    for (auto& [value, life] : lives_)
      if (life.first < tiles && life.last >= items) life.last = end - 1;
    return tiles;
  }

  void Use(const std::vector<Stage>& stages) {
    int begin = time_, loop = 0;
    for (const Stage& stage : stages) {
      if (std::exchange(loop, stage.loop) != stage.loop) begin = time_;
      Use(stage);
      // What is used in a loop may be needed by its next repeat.
      for (auto& [value, life] : lives_)
        if (loop != 0 && life.last >= begin) life = {std::min(life.first, begin), time_ - 1};
    }
  }

  void Use(const Stage& stage) {
    for (const StageOperand& operand : stage.operands) {
      const auto life = lives_.try_emplace(operand.value, Life{time_, time_}).first;
      life->second.last = std::max(life->second.last, time_);
    }
    ++time_;
  }

  std::map<int, Life> lives_;
  int time_ = 0;
};

// Of a value, by phases: there is no saying which stage of one another thread has come to.
std::map<int, Life> LivesByPhase(const Plan& plan) {
  std::map<int, Life> lives;
  for (const Group& group : plan.groups)
    for (const auto* stages : {&group.before, &group.once, &group.stages, &group.rest})
      for (const Stage& stage : *stages)
        for (const StageOperand& operand : stage.operands)
          lives.try_emplace(operand.value, Life{group.phase, group.phase}).first->second.last = group.phase;
  return lives;
}

// Values that are made ahead. Such a stage has one of them, its second operand.
std::set<int> MadeAhead(const Plan& plan) {
  std::set<int> values;
  for (const Stage& stage : plan.ahead) values.insert(stage.operands[1].value);
  return values;
}

int64_t& BytesOf(Memory memory, Plan* plan) {
  return memory == Memory::kOwn      ? plan->buffer_bytes
         : memory == Memory::kShared ? plan->shared_bytes
                                     : plan->packed_bytes;
}

// The lowest place beside those of `others` that live at the same time.
int64_t LowestPlace(int64_t bytes, std::vector<std::pair<int64_t, int64_t>> taken) {
  std::sort(taken.begin(), taken.end());
  int64_t place = 0;
  for (const auto& [begin, end] : taken) {
    if (place + bytes <= begin) break;
    place = std::max(place, end);
  }
  return place;
}

}  // namespace

void PlanMemory(std::vector<Buffer> buffers, Plan* plan) {
  const Lives by_stage(*plan);
  const std::map<int, Life> by_phase = LivesByPhase(*plan);
  const std::set<int> made_ahead = MadeAhead(*plan);
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
  plan->buffers.clear();
  plan->buffer_bytes = plan->shared_bytes = plan->packed_bytes = 0;
  for (Buffer buffer : buffers) {
    const Life phases = by_phase.at(buffer.value), stages = by_stage.at(buffer.value);
    buffer.memory = made_ahead.contains(buffer.value) ? Memory::kPacked
                    : phases.first < phases.last      ? Memory::kShared
                                                      : Memory::kOwn;
    buffer.bytes = (buffer.bytes + kLine - 1) / kLine * kLine;
    const auto meets = [&](const Buffer& other) {
      switch (buffer.memory) {
        case Memory::kOwn:
          return stages.Meets(by_stage.at(other.value));
        case Memory::kShared:
          return phases.Meets(by_phase.at(other.value));
        case Memory::kPacked:  // for all calls
        case Memory::kCaller:
          return true;
      }
      KIRSCH_CHECK(false && "no such memory");
    };
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (const Buffer& other : plan->buffers)
      if (other.memory == buffer.memory && meets(other))
        taken.push_back({other.offset, other.offset + other.bytes});
    buffer.offset = LowestPlace(buffer.bytes, std::move(taken));
    int64_t& bytes = BytesOf(buffer.memory, plan);
    bytes = std::max(bytes, buffer.offset + buffer.bytes);
    plan->buffers.push_back(buffer);
  }
}

}  // namespace kirsch
