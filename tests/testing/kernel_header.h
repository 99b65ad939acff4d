// SPDX-License-Identifier: Apache-2.0
// Headers of single kernels, and verification with them, for tests.
#ifndef KIRSCH_TESTS_TESTING_KERNEL_HEADER_H_
#define KIRSCH_TESTS_TESTING_KERNEL_HEADER_H_

#include <string>
#include <vector>

#include "codegen/header/header_file.h"
#include "codegen/lower.h"
#include "codegen/verify/verify.h"
#include "spec/program/impl_program.h"

namespace kirsch {

// What is said in a header of one function, and how.
struct HeaderOptions {
  HeaderMode mode = HeaderMode::kAttributes;
  bool external = false;
  std::string name_space;
  bool swapped = false;
  std::vector<Parameter> parameters;  // see EntryParameters::tensors
  Spec spec;
  std::string spec_text, schedule, version;
  double cycles = 0, gflops = 0;
  PackingCost packing;
};

// A file of the one function program.name.
inline HeaderFile HeaderOf(const LoopProgram& program, const Target& target, const HeaderOptions& options) {
  HeaderFunction function;
  function.name = program.name;
  function.text = options.spec_text;
  function.members = {{options.spec, options.swapped}};
  function.variants = {
      {target, {program}, options.cycles, options.gflops, options.schedule, options.packing}};
  return {program.name, options.mode, options.external, options.name_space, options.version, {function}};
}

inline std::string PrintHeader(const LoopProgram& program, const Target& target,
                               const HeaderOptions& options) {
  return PrintHeaderFile(HeaderOf(program, target, options));
}

inline VerifyReport VerifyKernel(const Impl& impl, const Target& target, const VerifyOptions& options = {},
                                 HeaderOptions header = {}) {
  header.spec = impl.spec;
  return VerifyKernel(
      impl, target,
      HeaderOf(Lower(impl, target, "kirsch_verified", {.tensors = header.parameters}), target, header),
      options);
}

// Of a program for a range of sizes, for what it computes for some of them.
inline std::vector<VerifyReport> VerifySizes(const Impl& range, const std::vector<Spec>& roots,
                                             const Target& target, const std::string& name,
                                             const VerifyOptions& options) {
  std::vector<MemberOfSize> members;
  for (const Spec& root : roots) {
    members.push_back({&root});
    for (size_t dim : SymbolicDims(range)) members.back().sizes.push_back(root.size[dim]);
  }
  return VerifySizes(ProgramTree(range), members, target, name, options);
}

}  // namespace kirsch

#endif  // KIRSCH_TESTS_TESTING_KERNEL_HEADER_H_
