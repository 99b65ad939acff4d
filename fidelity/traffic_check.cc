// SPDX-License-Identifier: Apache-2.0
#include "fidelity/traffic_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "fidelity/cache_simulator.h"
#include "memo/hash_memo.h"
#include "search/explain/explain.h"
#include "search/sampling/random.h"
#include "search/solver/search.h"
#include "spec/language/parser.h"
#include "spec/meaning/interpreter.h"
#include "spec/program/impl_program.h"
#include "spec/storage.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr uint64_t kLine = 64;

// Gives each buffer an address. Buffers of callers come one after the other, then the program's own memory,
// then packed operands. Buffers that share a memory lie in it as the program says.
class Addresses {
 public:
  explicit Addresses(const Program& program) : program_(program) {
    // Buffers that are no callers' get an entry as well, so that entries are found by number.
    for (const Program::Buffer& buffer : program.buffers) {
      callers_.push_back(next_);
      if (buffer.memory == Memory::kCaller) Reserve(buffer.bytes);
    }
    own_ = next_;
    Reserve(program.own_bytes);
    packed_ = next_;
  }

  uint64_t Of(int buffer) const {
    const Program::Buffer& at = program_.buffers[static_cast<size_t>(buffer)];
    if (at.memory == Memory::kCaller) return callers_[static_cast<size_t>(buffer)];
    return (at.memory == Memory::kPacked ? packed_ : own_) + static_cast<uint64_t>(at.offset);
  }

 private:
  // A whole number of lines, and one more, so that no two memories share a line.
  void Reserve(int64_t bytes) { next_ += (static_cast<uint64_t>(bytes) + 2 * kLine - 1) / kLine * kLine; }

  const Program& program_;
  uint64_t next_ = kLine * kLine, own_ = 0, packed_ = 0;
  std::vector<uint64_t> callers_;
};

// Memory for the operands; the values make no difference.
std::vector<std::vector<std::byte>> OperandsOf(const Program& program) {
  std::vector<std::vector<std::byte>> operands;
  for (const Program::Buffer& buffer : program.buffers)
    operands.emplace_back(buffer.memory == Memory::kCaller ? static_cast<size_t>(buffer.bytes) : 0,
                          std::byte{0});
  return operands;
}

// The error as a share of what was simulated.
double ErrorOf(double predicted, double simulated) {
  if (simulated == 0) return predicted == 0 ? 0 : 1;
  return std::abs(predicted - simulated) / simulated;
}

struct DrawnType {
  std::string_view text;
  size_t line;  // elements of the inputs
};

// Draws a matmul whose rows are whole lines. Rows that begin and end within lines touch more lines than
// footprints count (see README.md).
std::string DrawSpec(Random* random) {
  static constexpr DrawnType kTypes[] = {
      {"f32", 16}, {"f32", 16}, {"bf16*bf16->f32", 32}, {"u8*s8->s32", 64}};
  static constexpr std::string_view kOptions[] = {"", "", " rhs=col", " lhs=col", " accumulate"};
  constexpr size_t kMostSide = 128;
  const DrawnType& type = kTypes[random->Below(std::size(kTypes))];
  const auto side = [&] { return type.line * (1 + random->Below(kMostSide / type.line)); };
  const size_t m = side(), k = side(), n = side();
  return Cat("matmul ", type.text, " ", m, "x", k, "x", n, kOptions[random->Below(std::size(kOptions))]);
}

}  // namespace

double TrafficCheck::Error() const {
  double error = 0;
  for (int level = Index(Level::kL2); level <= Index(home); ++level) {
    const auto at = static_cast<Level>(level);
    error = std::max(error, ErrorOf(predicted.at(at), simulated.at(at)));
  }
  return error;
}

absl::StatusOr<TrafficCheck> CheckTraffic(const Impl& impl, const CostModel& model) {
  TrafficCheck check;
  // Predicted: the traffic that the model counts.
  check.home = impl.spec.out().level;
  check.predicted = TrafficOf(ExplainNodes(impl, model));
  // Simulated: the program is run by the interpreter, whose accesses go through the simulator.
  const Program program = WriteProgram(impl, model.target());
  const Addresses addresses(program);
  CacheSimulator caches(model.target());
  std::vector<std::vector<std::byte>> operands = OperandsOf(program);
  std::vector<void*> callers;
  for (size_t i = 0; i < operands.size(); ++i) {
    // The program gets real memory to work on; the simulator sees addresses of its own making.
    callers.push_back(operands[i].empty() ? nullptr : operands[i].data());
    if (!operands[i].empty())
      caches.Place(addresses.Of(static_cast<int>(i)), static_cast<int64_t>(operands[i].size()), check.home);
  }
  // An access has several elements at a stride, each of which may touch other lines.
  const AccessObserver observe = [&](const MemoryAccess& access) {
    uint64_t address = addresses.Of(access.buffer) + static_cast<uint64_t>(access.first);
    for (int64_t i = 0; i < access.count; ++i, address += static_cast<uint64_t>(access.stride))
      caches.Access(address, access.bytes, access.write);
  };
  KIRSCH_RETURN_IF_ERROR(Interpret(program, callers, 1, {}, observe));
  // The output is written back to where it belongs, as the prediction assumes.
  caches.WriteBack(check.home);
  check.simulated = caches.traffic();
  return check;
}

Target WithSmallCaches(Target target) {
  constexpr std::array kBytes = {std::pair(Level::kL1, 4 << 10), std::pair(Level::kL2, 24 << 10),
                                 std::pair(Level::kL3, 128 << 10)};
  for (const auto& [level, bytes] : kBytes) {
    // Nothing else changes, so the program may use all instructions of the CPU.
    MemoryLevel& cache = target.memory[static_cast<size_t>(Index(level))];
    cache.bytes = bytes;
    cache.ways = 8;
    cache.capacity_share = 0.5;
  }
  return target;
}

absl::StatusOr<std::vector<TrafficCheck>> CheckTraffics(const Target& target, int count, uint64_t seed) {
  const CostModel model(WithSmallCaches(target));
  Random random(seed);
  std::vector<TrafficCheck> checks;
  while (checks.size() < static_cast<size_t>(count)) {
    const std::string text = DrawSpec(&random);
    KIRSCH_ASSIGN_OR_RETURN(const ParsedSpec parsed, ParseSpec(text));
    const Spec placed = PlaceOperands(parsed.spec, Residency::kWarm, model.target());
    // Some problems need copies for which the small caches have no room; another one is drawn.
    if (!HasRoom(placed, model.target())) continue;
    HashMemo memo;
    KIRSCH_ASSIGN_OR_RETURN(TrafficCheck check, CheckTraffic(Search(placed, model, memo, {}).impl, model));
    check.spec = text;
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace kirsch
