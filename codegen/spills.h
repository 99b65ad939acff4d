// Looking at machine code: spills in loops, and counts of mnemonics.
#ifndef KIRSCH_CODEGEN_SPILLS_H_
#define KIRSCH_CODEGEN_SPILLS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

// One innermost loop: a backward branch with no other inside its range.
struct LoopCode {
  std::string function;                  // symbol the loop lies in
  std::map<std::string, int> mnemonics;  // instructions in the loop body, by mnemonic
  int instructions = 0;
  int vector_spills = 0;  // accesses to vectors relative to the stack or frame pointer
  int pointers = 0;       // distinct general registers that vector accesses are relative to
};

// Disassembles an x86-64 object file (bytes as EmitObject or a compiler makes them). An error says what in
// the object is not understood.
absl::StatusOr<std::vector<LoopCode>> InnermostLoops(std::string_view object);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SPILLS_H_
