#include "codegen/llvm/spills.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "codegen/llvm/llvm_target.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

struct Instruction {
  uint64_t address = 0;
  uint64_t branch_target = 0;
  bool branches = false;
  std::string mnemonic;     // with the widest vector register it names: "vfmadd231ps zmm"
  bool memory = false;      // has a memory operand
  std::string base;         // register of the memory operand; empty: none
  bool indexed = false;     // the memory operand has an index as well
  bool vector = false;      // names a vector register
  bool sets_frame = false;  // copies the stack pointer to RBP
};

// LLVM's view of x86 machine code.
class Disassembler {
 public:
  Disassembler() {
    InitializeLlvm();
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
    registers_.reset(target->createMCRegInfo(kTriple));
    assembly_.reset(target->createMCAsmInfo(*registers_, kTriple, llvm::MCTargetOptions()));
    subtarget_.reset(target->createMCSubtargetInfo(kTriple, "", "+64bit"));
    instructions_.reset(target->createMCInstrInfo());
    analysis_.reset(target->createMCInstrAnalysis(instructions_.get()));
    context_ = std::make_unique<llvm::MCContext>(llvm::Triple(kTriple), assembly_.get(), registers_.get(),
                                                 subtarget_.get());
    decoder_.reset(target->createMCDisassembler(*subtarget_, *context_));
    printer_.reset(
        target->createMCInstPrinter(llvm::Triple(kTriple), 0, *assembly_, *instructions_, *registers_));
  }

  // Bytes that are no instruction (padding, data) are skipped.
  std::vector<Instruction> Decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address) const {
    std::vector<Instruction> decoded;
    uint64_t at = 0;
    while (at < bytes.size()) {
      llvm::MCInst inst;
      uint64_t size = 0;
      if (decoder_->getInstruction(inst, size, bytes.slice(at), address + at, llvm::nulls()) ==
          llvm::MCDisassembler::Success)
        decoded.push_back(Read(inst, address + at, size));
      at += std::max<uint64_t>(size, 1);
    }
    return decoded;
  }

 private:
  Instruction Read(const llvm::MCInst& inst, uint64_t address, uint64_t size) const {
    Instruction read;
    read.address = address;
    read.branches =
        analysis_->isBranch(inst) && analysis_->evaluateBranch(inst, address, size, read.branch_target);
    read.mnemonic = std::string(absl::StripAsciiWhitespace(printer_->getMnemonic(&inst).first));
    std::string widest;
    for (const llvm::MCOperand& operand : inst) {
      if (!operand.isReg() || !operand.getReg()) continue;
      const llvm::StringRef name = registers_->getName(operand.getReg());
      if (name.starts_with("XMM") || name.starts_with("YMM") || name.starts_with("ZMM"))
        widest = std::max(widest, name.take_front(3).lower());
    }
    read.vector = !widest.empty();
    if (read.vector) Append(&read.mnemonic, " ", widest);
    ReadMemoryOperand(inst, &read);
    read.sets_frame =
        inst.getNumOperands() == 2 && RegisterName(inst, 0) == "RBP" && RegisterName(inst, 1) == "RSP";
    return read;
  }

  // Its parts follow each other: base, scale, index, displacement, segment.
  void ReadMemoryOperand(const llvm::MCInst& inst, Instruction* read) const {
    const llvm::MCInstrDesc& description = instructions_->get(inst.getOpcode());
    for (unsigned i = 0; i + 2 < description.getNumOperands() && i + 2 < inst.getNumOperands(); ++i) {
      if (description.operands()[i].OperandType != llvm::MCOI::OPERAND_MEMORY) continue;
      read->memory = true;
      read->base = RegisterName(inst, i);
      read->indexed = !RegisterName(inst, i + 2).empty();
      return;
    }
  }

  std::string RegisterName(const llvm::MCInst& inst, unsigned operand) const {
    const llvm::MCOperand& named = inst.getOperand(operand);
    return named.isReg() && named.getReg() ? registers_->getName(named.getReg()) : "";
  }

  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

bool MovesRegister(const Instruction& instruction) {
  return instruction.vector && !instruction.memory &&
         (absl::StartsWith(instruction.mnemonic, "vmova") ||
          absl::StartsWith(instruction.mnemonic, "vmovu") ||
          absl::StartsWith(instruction.mnemonic, "vmovdq"));
}

LoopCode Summarize(const std::vector<Instruction>& code, size_t first, size_t last) {
  const bool frame = std::any_of(code.begin(), code.end(), [](const auto& i) { return i.sets_frame; });
  LoopCode loop;
  std::set<std::string> bases;
  for (size_t i = first; i <= last; ++i) {
    const Instruction& instruction = code[i];
    ++loop.instructions;
    ++loop.mnemonics[instruction.mnemonic];
    if (MovesRegister(instruction)) ++loop.register_moves;
    if (!instruction.vector || instruction.base.empty()) continue;
    bases.insert(instruction.base);
    const bool stack = instruction.base == "RSP" || (frame && instruction.base == "RBP");
    if (stack && !instruction.indexed) ++loop.vector_spills;
  }
  loop.pointers = static_cast<int>(bases.size());
  return loop;
}

void AppendInnermost(const std::vector<Instruction>& code, const std::string& function,
                     std::vector<LoopCode>* loops) {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t i = 0; i < code.size(); ++i) {
    if (!code[i].branches || code[i].branch_target > code[i].address) continue;
    for (size_t j = 0; j <= i; ++j)
      if (code[j].address == code[i].branch_target) ranges.emplace_back(j, i);
  }
  for (const auto& range : ranges) {
    const bool innermost = std::none_of(ranges.begin(), ranges.end(), [&](const auto& other) {
      return other != range && other.first >= range.first && other.second <= range.second;
    });
    if (!innermost) continue;
    loops->push_back(Summarize(code, range.first, range.second));
    loops->back().function = function;
  }
}

absl::Status ToStatus(llvm::Error error) {
  return absl::InvalidArgumentError(Cat("object file: ", llvm::toString(std::move(error))));
}

}  // namespace

absl::StatusOr<std::vector<LoopCode>> InnermostLoops(std::string_view object) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "object");
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file =
      llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) return ToStatus(file.takeError());
  const Disassembler disassembler;
  std::vector<LoopCode> loops;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto type = symbol.getType();
    if (!type) return ToStatus(type.takeError());
    if (*type != llvm::object::SymbolRef::ST_Function) continue;
    auto section = symbol.getSection();
    if (!section) return ToStatus(section.takeError());
    if (*section == (*file)->section_end()) continue;
    auto contents = (*section)->getContents();
    if (!contents) return ToStatus(contents.takeError());
    auto name = symbol.getName();
    if (!name) return ToStatus(name.takeError());
    auto address = symbol.getAddress();
    if (!address) return ToStatus(address.takeError());
    const uint64_t size = llvm::object::ELFSymbolRef(symbol).getSize();
    const llvm::StringRef bytes = contents->substr(*address - (*section)->getAddress(), size);
    AppendInnermost(disassembler.Decode(llvm::arrayRefFromStringRef(bytes), *address), name->str(), &loops);
  }
  return loops;
}

absl::StatusOr<HotLoops> FindHotLoops(std::string_view object) {
  const absl::StatusOr<std::vector<LoopCode>> loops = InnermostLoops(object);
  if (!loops.ok()) return loops.status();
  HotLoops hot;
  for (const LoopCode& loop : *loops) {
    const bool vectors = std::any_of(loop.mnemonics.begin(), loop.mnemonics.end(), [](const auto& entry) {
      return entry.first.front() == 'v' && entry.first.find("mm") != std::string::npos;
    });
    if (!vectors) continue;
    ++hot.loops;
    hot.spills += loop.vector_spills;
    hot.register_moves += loop.register_moves;
  }
  return hot;
}

}  // namespace kirsch
