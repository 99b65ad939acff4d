#include "codegen/header.h"

namespace kirsch {

std::string PrintHeader(const LoopProgram& program, const Target& target, const HeaderOptions& options) {
  HeaderFunction function;
  function.name = program.name;
  function.text = options.spec_text;
  function.members = {{options.spec, options.swapped}};
  function.variants = {
      {target, {program}, options.cycles, options.gflops, options.schedule, options.packing}};
  return PrintHeaderFile(
      {program.name, options.mode, options.external, options.name_space, options.version, {function}});
}

}  // namespace kirsch
