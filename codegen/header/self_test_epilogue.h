// What self-tests know of epilogues, as C code. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_SELF_TEST_EPILOGUE_H_
#define KIRSCH_CODEGEN_HEADER_SELF_TEST_EPILOGUE_H_

#include <string>

#include "codegen/header/header_file.h"

namespace kirsch {

// What the epilogue takes: memory that is filled with small integers.
struct ArgumentsText {
  std::string alloc, check, fill, free;
};
ArgumentsText ArgumentsTextOf(const HeaderMember& member);

// `sum` becomes what is to be stored. Products and sums of two floats are exact in double, as far as these
// values go, and are rounded as the kernel does; of functions, `most` is how large values were.
std::string EpilogueText(const HeaderMember& member);

// Is the stored element, as a double `got`, wrong?
std::string DiffersText(const HeaderMember& member);

// The functions that these texts call.
std::string FunctionsText(const HeaderFile& file);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_SELF_TEST_EPILOGUE_H_
