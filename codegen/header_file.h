// A header, or a C file, around the functions of any number of kernels. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_FILE_H_
#define KIRSCH_CODEGEN_HEADER_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/c_printer.h"
#include "codegen/header.h"

namespace kirsch {

// Without a dispatcher, every kernel is public and has its NAME_scratch_bytes() if it needs one. With one,
// kernels are static, and the dispatcher's function has the name of the file.
struct HeaderFile {
  std::string name;  // of the file: what is not a kernel's own begins with it
  HeaderMode mode = HeaderMode::kAttributes;
  bool external = false;
  std::vector<CKernel> kernels;  // at least one; all for the same features
  std::string dispatcher;        // "int NAME(...) {...}\n" without linkage and attributes; empty: none
  std::string comment;           // plain text
  std::string self_test;         // C code; left out of kBare

  const std::vector<std::string>& features() const { return kernels.front().program->features; }
  int64_t scratch_bytes() const;  // the most that any kernel needs
  bool threads() const;           // some kernel takes them
};

// Lines for the comment: what the code was made for and by; what it requires; how it is included and called.
std::string OriginText(const Target& target, const std::string& version);
std::string RequirementsText(const HeaderFile& file);
std::string InclusionText(const HeaderFile& file);

std::string PrintHeaderFile(const HeaderFile& file);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_FILE_H_
