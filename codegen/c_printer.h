// Loop program -> C functions with intrinsics. Internal to codegen/; header.h makes a whole file of them.
#ifndef KIRSCH_CODEGEN_C_PRINTER_H_
#define KIRSCH_CODEGEN_C_PRINTER_H_

#include <string>

#include "codegen/loop_program.h"

namespace kirsch {

struct CStyle {
  std::string public_prefix;  // before the entry: linkage and attributes
  std::string helper_prefix;  // before the other procedures
  bool swapped = false;       // see EmitOptions
};

// The entry's parameters, as in a declaration: scratch and threads only where the program needs them.
std::string CParameters(const LoopProgram& program);

// All functions, the entry last. Helpers are called NAME_<procedure>.
std::string PrintC(const LoopProgram& program, const CStyle& style);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_PRINTER_H_
