// SPDX-License-Identifier: Apache-2.0
// Searches with a cost model and rewrites of its own: copies are dear on the machine that this program knows
// of, one decision is not wanted at all, and tiles have sizes that the search would not try.
#include <kirsch_extension.h>

#include <cstdio>
#include <kirsch.hpp>
#include <string>

namespace {

// What the program knows of its machine.
struct Machine {
  double copy_factor;  // that a copy takes longer than the built-in model says
  int64_t tile;        // columns that suit it
};

double Price(void* user, const kirsch_step* step) {
  const double factor = static_cast<const Machine*>(user)->copy_factor;
  return step->decision.kind == KIRSCH_PACK ? factor * step->cycles : step->cycles;
}

// The operand at a place of the array, by its name: "lhs", "rhs" or "out".
bool IsOperand(const kirsch_subproblem* at, int operand, const char* name) {
  return std::string(at->tile[operand].name) == name;
}

// Never copies lhs.
int Allow(void*, const kirsch_subproblem* at, const kirsch_decision* decision) {
  return decision->kind == KIRSCH_PACK && IsOperand(at, decision->operand, "lhs") ? 0 : 1;
}

// Multiples of the machine's tile, along the columns of the output.
size_t TileSizes(void* user, const kirsch_subproblem* at, int dim, int64_t* sizes, size_t room) {
  const int64_t tile = static_cast<const Machine*>(user)->tile;
  size_t count = 0;
  if (std::string(at->dim[dim]) != "n") return 0;
  for (int64_t size = tile; size < at->size[dim] && count < room; size += tile) sizes[count++] = size;
  return count;
}

kirsch_extension OwnModel(Machine* machine) {
  kirsch_extension extension = {};
  extension.struct_size = sizeof extension;
  extension.abi = KIRSCH_EXTENSION_ABI;
  extension.name = "dear_copies";
  extension.version = "1";
  extension.user = machine;
  extension.price = Price;
  extension.least_share = 1;  // no price is below the built-in one, so its bounds hold
  extension.allow = Allow;
  extension.tile_sizes = TileSizes;
  return extension;
}

// Prints the cost and the decisions of the best program.
double Solve(const char* name, const kirsch::Context& context) {
  const kirsch::Request request = kirsch::Request::Parse("matmul f32 96x128x480").value();
  kirsch::SolveOptions options;
  options.target = "haswell";
  const kirsch::Solution solution = context.Solve(request, options).value();
  const double cycles = solution.Cost()->cycles;
  const std::string answer = solution.Query().value(), key = "\"knobs\": ";
  const size_t knobs = answer.find(key) + key.size();
  std::printf("%s: %.0f cycles, %s\n", name, cycles,
              answer.substr(knobs, answer.find('}', knobs) - knobs + 1).c_str());
  return cycles;
}

}  // namespace

int main() {
  try {
    Machine machine = {4, 48};
    const kirsch_extension extension = OwnModel(&machine);
    Solve("built-in model", kirsch::Context::Create().value());
    Solve("own model", kirsch::Context::Create("", 0, &extension).value());
  } catch (const kirsch::Exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
}
