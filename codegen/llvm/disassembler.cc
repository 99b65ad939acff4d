// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/disassembler.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "codegen/llvm/llvm_target.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/TargetRegistry.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// LLVM's names of registers are in capitals.
bool IsVector(llvm::StringRef name) {
  return name.starts_with("XMM") || name.starts_with("YMM") || name.starts_with("ZMM");
}

}  // namespace

Disassembler::Disassembler(const std::string& cpu, const std::string& features) {
  InitializeLlvm();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  registers_.reset(target->createMCRegInfo(kTriple));
  assembly_.reset(target->createMCAsmInfo(*registers_, kTriple, llvm::MCTargetOptions()));
  subtarget_.reset(target->createMCSubtargetInfo(kTriple, cpu, features));
  instructions_.reset(target->createMCInstrInfo());
  analysis_.reset(target->createMCInstrAnalysis(instructions_.get()));
  context_ = std::make_unique<llvm::MCContext>(llvm::Triple(kTriple), assembly_.get(), registers_.get(),
                                               subtarget_.get());
  decoder_.reset(target->createMCDisassembler(*subtarget_, *context_));
  printer_.reset(
      target->createMCInstPrinter(llvm::Triple(kTriple), 0, *assembly_, *instructions_, *registers_));
}

std::vector<MachineInstruction> Disassembler::Decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address) const {
  std::vector<MachineInstruction> decoded;
  uint64_t at = 0;
  while (at < bytes.size()) {
    llvm::MCInst inst;
    uint64_t size = 0;
    if (decoder_->getInstruction(inst, size, bytes.slice(at), address + at, llvm::nulls()) ==
        llvm::MCDisassembler::Success)
      decoded.push_back(Read(inst, address + at, size));
    // Where nothing was decoded, `size` may be 0.
    at += std::max<uint64_t>(size, 1);
  }
  return decoded;
}

MachineInstruction Disassembler::Read(const llvm::MCInst& inst, uint64_t address, uint64_t size) const {
  MachineInstruction read;
  read.inst = inst;
  read.address = address;
  read.branches =
      analysis_->isBranch(inst) && analysis_->evaluateBranch(inst, address, size, read.branch_target);
  read.mnemonic = std::string(absl::StripAsciiWhitespace(printer_->getMnemonic(&inst).first));
  // "zmm" > "ymm" > "xmm", so the widest register is the largest name.
  std::string widest;
  for (const llvm::MCOperand& operand : inst) {
    if (!operand.isReg() || !operand.getReg()) continue;
    const llvm::StringRef name = registers_->getName(operand.getReg());
    if (IsVector(name)) widest = std::max(widest, name.take_front(3).lower());
  }
  read.vector = !widest.empty();
  if (read.vector) Append(&read.mnemonic, " ", widest);
  ReadRegisters(inst, &read);
  ReadMemoryOperand(inst, &read);
  read.sets_frame =
      inst.getNumOperands() == 2 && RegisterName(inst, 0) == "RBP" && RegisterName(inst, 1) == "RSP";
  return read;
}

// Operands that an instruction defines come first. One that it reads and writes is there twice, as in a
// multiply-add.
void Disassembler::ReadRegisters(const llvm::MCInst& inst, MachineInstruction* read) const {
  const unsigned written = instructions_->get(inst.getOpcode()).getNumDefs();
  for (unsigned i = 0; i < inst.getNumOperands(); ++i) {
    const std::string name = RegisterName(inst, i);
    if (IsVector(name)) (i < written ? read->writes : read->reads).insert(std::atoi(name.c_str() + 3));
  }
}

// The parts of a memory operand follow each other: base, scale, index, displacement, segment.
void Disassembler::ReadMemoryOperand(const llvm::MCInst& inst, MachineInstruction* read) const {
  const llvm::MCInstrDesc& description = instructions_->get(inst.getOpcode());
  for (unsigned i = 0; i + 2 < description.getNumOperands() && i + 2 < inst.getNumOperands(); ++i) {
    if (description.operands()[i].OperandType != llvm::MCOI::OPERAND_MEMORY) continue;
    read->memory = true;
    read->base = RegisterName(inst, i);
    read->indexed = !RegisterName(inst, i + 2).empty();
    return;
  }
}

std::string Disassembler::RegisterName(const llvm::MCInst& inst, unsigned operand) const {
  const llvm::MCOperand& named = inst.getOperand(operand);
  return named.isReg() && named.getReg() ? registers_->getName(named.getReg()) : "";
}

}  // namespace kirsch
