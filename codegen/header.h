// Loop program -> a C/C++ header (or a C file) with intrinsics and no dependency: the form that other
// libraries take in. It compiles as C99 and as C++17, with GCC and Clang, and keeps to what MSVC documents.
#ifndef KIRSCH_CODEGEN_HEADER_H_
#define KIRSCH_CODEGEN_HEADER_H_

#include <string>

#include "codegen/header_file.h"
#include "codegen/loop_program.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

struct HeaderOptions {
  HeaderMode mode = HeaderMode::kAttributes;
  bool external = false;   // as in HeaderFile
  std::string name_space;  // as in HeaderFile
  bool swapped = false;    // as in HeaderMember
  Spec spec;               // the root spec the program computes: what the self-test checks
  std::string spec_text;   // the user's spec, for the comment
  std::string schedule;    // text, any number of lines, for the comment
  std::string version;     // of Kirsch
  double cycles = 0;       // predicted
  double gflops = 0;       // predicted
  PackingCost packing;     // as in HeaderVariant
};

// A file of the one function program.name; see PrintHeaderFile.
std::string PrintHeader(const LoopProgram& program, const Target& target, const HeaderOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_H_
