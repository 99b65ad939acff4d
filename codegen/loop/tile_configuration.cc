// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop/tile_configuration.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/loop/nested.h"

namespace kirsch {
namespace {

using Block = std::vector<Stmt>;
// A configuration says how many rows each tile has.
using Configuration = std::optional<TileRows>;  // none: not known, or there is none

// Follows the entry's statements and knows, at each, which configuration the thread has.
class Configuring {
 public:
  explicit Configuring(const LoopProgram& program) : program_(program) {}

  // Writes configurations into a block that begins with `now`. Returns the one it ends with.
  Configuration Write(Block* block, Configuration now) const {
    Block written;
    for (Stmt& stmt : *block) {
      const Configuration needed = NeededBefore(stmt, now);
      if (needed && needed != now) written.push_back({TileConfigure{*needed}});
      if (needed) now = needed;
      const Configuration end = EndOf(stmt, now);
      // If a loop ends with another configuration, later trips don't begin with `now`: nothing is known
      // there.
      const Configuration begin = IsLoop(stmt) && end != now ? Configuration() : now;
      ForNested(stmt, [&](Block& inner) { Write(&inner, begin); });
      written.push_back(std::move(stmt));
      now = end;
    }
    *block = std::move(written);
    return now;
  }

 private:
  static bool IsLoop(const Stmt& stmt) {
    return std::holds_alternative<For>(stmt.op) || std::holds_alternative<ForBlocks>(stmt.op);
  }

  // Returns what the first call that needs any configuration needs; none if no call does.
  Configuration FirstOf(const Stmt& stmt) const {
    if (const auto* const call = std::get_if<Call>(&stmt.op))
      return program_.procedures[static_cast<size_t>(call->procedure)].tiles;
    Configuration first;
    ForNested(stmt, [&](const Block& block) {
      for (const Stmt& inner : block)
        if (!first) first = FirstOf(inner);
    });
    return first;
  }

  // Returns what has to be configured before the statement; none if nothing has. Before a call it is what the
  // call needs. Before a loop it is what the loop's first call needs, if all trips end with that, too: then
  // no trip configures.
  Configuration NeededBefore(const Stmt& stmt, const Configuration& now) const {
    const Configuration first = FirstOf(stmt);
    if (std::holds_alternative<Call>(stmt.op)) return first;
    if (!IsLoop(stmt) || (now && EndOf(stmt, now) == now)) return std::nullopt;
    return EndOf(stmt, first) == first ? first : std::nullopt;
  }

  // Returns what is configured after a statement that begins with `now`, whichever of its blocks run, and how
  // often. It is none if that depends on which.
  Configuration EndOf(const Stmt& stmt, const Configuration& now) const {
    if (const Configuration needed = FirstOf(stmt); std::holds_alternative<Call>(stmt.op))
      return needed ? needed : now;
    Configuration end = now;
    ForNested(stmt, [&](const Block& block) {
      Configuration inner = now;
      for (const Stmt& next : block) inner = EndOf(next, inner);
      if (inner != now) end = std::nullopt;
    });
    return end;
  }

  const LoopProgram& program_;
};

}  // namespace

void ConfigureTiles(LoopProgram* program) {
  const auto uses_tiles = [](const Procedure& procedure) { return procedure.tiles.has_value(); };
  if (std::ranges::none_of(program->procedures, uses_tiles)) return;
  Block body = std::move(program->procedures[0].body);
  Configuring(*program).Write(&body, std::nullopt);
  body.push_back({TileRelease{}});
  program->procedures[0].body = std::move(body);
}

}  // namespace kirsch
