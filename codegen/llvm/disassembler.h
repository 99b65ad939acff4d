// SPDX-License-Identifier: Apache-2.0
// Decodes x86-64 machine code by LLVM's disassembler, and says of each instruction what loops are judged by.
// Internal to codegen/llvm/.
#ifndef KIRSCH_CODEGEN_LLVM_DISASSEMBLER_H_
#define KIRSCH_CODEGEN_LLVM_DISASSEMBLER_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"

namespace kirsch {

// One instruction. For example, vfmadd231ps zmm0, zmm1, [rax + 64] has the base "RAX", writes 0, and reads 0
// and 1.
struct MachineInstruction {
  llvm::MCInst inst;
  uint64_t address = 0;
  uint64_t branch_target = 0;  // if it branches
  bool branches = false;
  std::string mnemonic;         // with the widest vector register it names: "vfmadd231ps zmm"
  bool memory = false;          // has a memory operand
  std::string base;             // register of the memory operand; empty: none
  bool indexed = false;         // the memory operand has an index as well
  bool vector = false;          // names a vector register
  std::set<int> reads, writes;  // vector registers, by number
  bool sets_frame = false;      // copies the stack pointer to RBP, then a fixed place on the stack
};

// Decodes code of any CPU. `cpu` and `features` ("+avx2,+fma") choose the timing that subtarget() has. Not
// copied; to be used by one thread at a time.
class Disassembler {
 public:
  explicit Disassembler(const std::string& cpu = "", const std::string& features = "+64bit");

  // Decodes the bytes in order; the first one is at `address`. Bytes that are no instruction (padding, data)
  // are skipped.
  std::vector<MachineInstruction> Decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address) const;

  const llvm::MCRegisterInfo& registers() const { return *registers_; }
  const llvm::MCSubtargetInfo& subtarget() const { return *subtarget_; }
  const llvm::MCInstrInfo& instructions() const { return *instructions_; }
  const llvm::MCInstrAnalysis& analysis() const { return *analysis_; }

 private:
  // Read takes an instruction apart. The other three read its vector registers, its memory operand, and the
  // name of a register operand (empty: it is none).
  MachineInstruction Read(const llvm::MCInst& inst, uint64_t address, uint64_t size) const;
  void ReadRegisters(const llvm::MCInst& inst, MachineInstruction* read) const;
  void ReadMemoryOperand(const llvm::MCInst& inst, MachineInstruction* read) const;
  std::string RegisterName(const llvm::MCInst& inst, unsigned operand) const;

  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_DISASSEMBLER_H_
