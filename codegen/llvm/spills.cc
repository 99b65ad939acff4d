// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/spills.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "codegen/llvm/disassembler.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

bool MovesRegister(const MachineInstruction& instruction) {
  return instruction.vector && !instruction.memory &&
         (absl::StartsWith(instruction.mnemonic, "vmova") ||
          absl::StartsWith(instruction.mnemonic, "vmovu") ||
          absl::StartsWith(instruction.mnemonic, "vmovdq"));
}

// Returns the most vectors that are in registers between two instructions of the loop. A register counts if
// it is read before it is written again, in this trip or the next. So the loop is walked from its end to its
// beginning, twice: the first walk finds what the next trip reads.
int RegistersAtPeak(const std::vector<MachineInstruction>& code, size_t first, size_t last) {
  std::set<int> live;
  size_t most = 0;
  for (int trip = 0; trip < 2; ++trip)
    for (size_t i = last + 1; i-- > first;) {
      for (const int written : code[i].writes) live.erase(written);
      live.insert(code[i].reads.begin(), code[i].reads.end());
      most = std::max(most, live.size());
    }
  return static_cast<int>(most);
}

// Counts what is in the instructions first .. last. Vector accesses at fixed places from the stack pointer
// are spills, and from RBP if the function keeps the stack pointer there. Accesses with an index are none.
LoopCode Summarize(const std::vector<MachineInstruction>& code, size_t first, size_t last) {
  const bool frame = std::ranges::any_of(code, &MachineInstruction::sets_frame);
  LoopCode loop;
  std::set<std::string> bases;
  for (size_t i = first; i <= last; ++i) {
    const MachineInstruction& instruction = code[i];
    ++loop.instructions;
    ++loop.mnemonics[instruction.mnemonic];
    if (MovesRegister(instruction)) ++loop.register_moves;
    if (!instruction.vector || instruction.base.empty()) continue;
    // Only instructions on vectors count.
    bases.insert(instruction.base);
    const bool stack = instruction.base == "RSP" || (frame && instruction.base == "RBP");
    if (stack && !instruction.indexed) ++loop.vector_spills;
  }
  loop.pointers = static_cast<int>(bases.size());
  loop.vector_registers = RegistersAtPeak(code, first, last);
  return loop;
}

// A loop is a branch back to an instruction of the function. Loops that have another one within them are left
// out.
void AppendInnermost(const std::vector<MachineInstruction>& code, const std::string& function,
                     llvm::StringRef bytes, std::vector<LoopCode>* loops) {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t i = 0; i < code.size(); ++i) {
    if (!code[i].branches || code[i].branch_target > code[i].address) continue;
    for (size_t j = 0; j <= i; ++j)
      if (code[j].address == code[i].branch_target) ranges.emplace_back(j, i);
  }
  for (const auto& range : ranges) {
    // A loop is not innermost if another one is within its range, even if both have the same end.
    const bool innermost = std::ranges::none_of(ranges, [&](const auto& other) {
      return other != range && other.first >= range.first && other.second <= range.second;
    });
    if (!innermost) continue;
    loops->push_back(Summarize(code, range.first, range.second));
    loops->back().function = function;
    // The bytes from the loop's first instruction to the one behind its branch, or to the function's end.
    const uint64_t begin = code[range.first].address - code.front().address;
    const uint64_t end =
        range.second + 1 < code.size() ? code[range.second + 1].address - code.front().address : bytes.size();
    loops->back().bytes = bytes.substr(begin, end - begin).str();
  }
}

absl::Status ObjectStatus(llvm::Error error) {
  return absl::InvalidArgumentError(Cat("object file: ", llvm::toString(std::move(error))));
}

}  // namespace

absl::StatusOr<std::vector<LoopCode>> InnermostLoops(std::string_view object) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "object");
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file =
      llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) return ObjectStatus(file.takeError());
  const Disassembler disassembler;
  std::vector<LoopCode> loops;
  // Functions are decoded one by one. Those that are only declared have no section.
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto type = symbol.getType();
    if (!type) return ObjectStatus(type.takeError());
    if (*type != llvm::object::SymbolRef::ST_Function) continue;
    auto section = symbol.getSection();
    if (!section) return ObjectStatus(section.takeError());
    if (*section == (*file)->section_end()) continue;
    auto contents = (*section)->getContents();
    if (!contents) return ObjectStatus(contents.takeError());
    auto name = symbol.getName();
    if (!name) return ObjectStatus(name.takeError());
    auto address = symbol.getAddress();
    if (!address) return ObjectStatus(address.takeError());
    const uint64_t size = llvm::object::ELFSymbolRef(symbol).getSize();
    // Addresses of symbols count from where the section is linked.
    const llvm::StringRef bytes = contents->substr(*address - (*section)->getAddress(), size);
    AppendInnermost(disassembler.Decode(llvm::arrayRefFromStringRef(bytes), *address), name->str(), bytes,
                    &loops);
  }
  return loops;
}

absl::StatusOr<HotLoops> FindHotLoops(std::string_view object) {
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<LoopCode> loops, InnermostLoops(object));
  HotLoops hot;
  for (const LoopCode& loop : loops) {
    // "vfmadd231ps zmm": AVX mnemonics begin with v, and the register's name is behind it.
    const bool vectors = std::ranges::any_of(loop.mnemonics, [](const auto& entry) {
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
