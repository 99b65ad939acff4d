#include "search/memory_plan.h"

#include <algorithm>
#include <map>
#include <utility>

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
    for (const Stage& stage : group.before) Use(stage);
    const int items = time_;
    for (const Stage& stage : group.once) Use(stage);
    const int tiles = time_;
    for (const Stage& stage : group.stages) Use(stage);
    // A tile after the whole ones has the same stages.
    const int end = time_;
    time_ = tiles;
    for (const Stage& stage : group.rest) Use(stage);
    time_ = end;
    // What is there before a tile is needed by the next one, too.
    for (auto& [value, life] : lives_)
      if (life.first < tiles && life.last >= items) life.last = end - 1;
    return tiles;
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
  const Lives lives(*plan);
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
  plan->buffers.clear();
  plan->buffer_bytes = 0;
  for (Buffer buffer : buffers) {
    buffer.bytes = (buffer.bytes + kLine - 1) / kLine * kLine;
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (const Buffer& other : plan->buffers)
      if (lives.at(buffer.value).Meets(lives.at(other.value)))
        taken.push_back({other.offset, other.offset + other.bytes});
    buffer.offset = LowestPlace(buffer.bytes, std::move(taken));
    plan->buffer_bytes = std::max(plan->buffer_bytes, buffer.offset + buffer.bytes);
    plan->buffers.push_back(buffer);
  }
}

}  // namespace kirsch
