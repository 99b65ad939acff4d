// Programs of specs as statements of an entry that is being written. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_IMPL_LOWERING_H_
#define KIRSCH_CODEGEN_IMPL_LOWERING_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "codegen/loop_program.h"
#include "codegen/matrix_layout.h"
#include "codegen/procedure_builder.h"
#include "spec/impl.h"
#include "spec/target.h"

namespace kirsch {

// One operand's current tile: where it starts, and how its elements lie from there.
struct View {
  Address start;
  int64_t batch_stride = 0;
  MatrixLayout layout;
};

using Views = std::array<View, kMaxOperands>;

// The tasks of a program that threads may share; 1: none.
int64_t TaskCount(const Impl& impl);

class ImplLowering {
 public:
  // Writes into `builder`, the entry of `program`, and into the program all that the entry calls. All three
  // outlive the result.
  static std::unique_ptr<ImplLowering> Make(const Target& target, LoopProgram& program,
                                            ProcedureBuilder& builder);
  virtual ~ImplLowering() = default;

  // The statements of a program whose operands lie as `views` say.
  virtual void LowerProgram(const Impl& impl, const Views& views) = 0;
  // The same, its tasks, numbered from `first` on, shared out over the entry's threads.
  virtual void LowerSharedProgram(const Impl& impl, const Views& views, const Affine& first) = 0;
  // How an operand of a root lies that begins at `start`.
  virtual View ViewAt(const Spec& spec, int operand, const Address& start) const = 0;
  // The copy that the first decision of `impl` makes.
  virtual void LowerCopy(const Impl& impl, const Address& from, const Address& to) = 0;

  // The number of the procedure of that name, made by `make` when it is first asked for.
  virtual int ProcedureFor(const std::string& name, const std::function<Procedure()>& make) = 0;
  virtual void AddFeature(std::string_view feature) = 0;
  // So much scratch memory is taken from now on.
  virtual void UseScratch(int64_t bytes) = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_IMPL_LOWERING_H_
