// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/matmul_dispatch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "spec/language/family.h"
#include "spec/program/memory.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

constexpr std::array<const char*, 3> kSizes = {"m", "k", "n"};
constexpr std::array<const char*, 3> kLds = {"lda", "ldb", "ldc"};
constexpr std::array<int, 3> kDims = {MatmulDims::kM, MatmulDims::kK, MatmulDims::kN};

// All that a caller says of a matmul to have a kernel found: its form, its sizes and its leading dimensions.
struct MatmulKey {
  std::string form;  // "bf16*bf16->f32 rhs=col const-rhs": types and options that are no numbers
  std::array<SizeRange, 3> sizes;  // m, k, n
  std::array<std::string, 3> ld;   // of lhs, rhs and out: a number, or the name of the size that it is
  int constant = -1;               // the operand that is prepacked

  // Returns an operand's leading dimension, for sizes that the key has.
  uint32_t ld_of(int operand, const std::array<uint32_t, 3>& at) const {
    const std::string& text = ld[static_cast<size_t>(operand)];
    for (size_t i = 0; i < kSizes.size(); ++i)
      if (text == kSizes[i]) return at[i];
    return static_cast<uint32_t>(std::stoul(text));
  }
};

// Returns the size that is the leading dimension of a contiguous operand: its columns, or by columns its
// rows.
std::string DefaultLd(int operand, bool by_column) {
  constexpr std::array<std::pair<const char*, const char*>, 3> kRowsAndColumns = {
      {{"m", "k"}, {"k", "n"}, {"m", "n"}}};
  const auto& [rows, columns] = kRowsAndColumns[static_cast<size_t>(operand)];
  return by_column ? rows : columns;
}

// Returns the key of a text, or nothing if the function that dispatches can't call it. It can't if the text
// is no matmul, has a batch, or an epilogue with operands in memory. `text`: of a spec or a family, in its
// shortest form, perhaps with lines behind it.
std::optional<MatmulKey> ParseMatmulKey(const std::string& text) {
  const std::string line(text.substr(0, text.find('\n')));
  const absl::StatusOr<SpecFamily> family = ParseFamily(line);
  if (!family.ok() || !line.starts_with(Cat(kMatmulInfo.name, " "))) return std::nullopt;
  if (family->ranges()[MatmulDims::kB].high > 1) return std::nullopt;
  if (family->member(0).spec.op_info().epilogue.operands() > 0) return std::nullopt;
  MatmulKey key;
  for (size_t i = 0; i < kDims.size(); ++i) key.sizes[i] = family->ranges()[static_cast<size_t>(kDims[i])];
  std::array<bool, 3> by_column = {};
  const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  key.form = words.at(1);
  // The words are "matmul", the types, the sizes, then options.
  for (size_t i = 3; i < words.size(); ++i) {  // behind the sizes
    const std::string name = words[i].substr(0, words[i].find('='));
    const std::string value = words[i].substr(std::min(name.size() + 1, words[i].size()));
    const auto ld = std::ranges::find(kLds, name);
    if (ld != kLds.end()) {
      key.ld[static_cast<size_t>(ld - kLds.begin())] = value;
    } else if (name != "column-blocks" && name != "mixture") {  // which callers need not know of
      Append(&key.form, " ", words[i]);
    }
    for (size_t operand = 0; operand < by_column.size(); ++operand)
      if (name == kMatmulInfo.operands[operand].name) by_column[operand] = value == "col";
    if (name == "const-lhs") key.constant = MatmulDims::kLhs;
    if (name == "const-rhs") key.constant = MatmulDims::kRhs;
  }
  // Leading dimensions that the text leaves out are those of contiguous operands.
  for (int operand = 0; operand < 3; ++operand) {
    std::string& ld = key.ld[static_cast<size_t>(operand)];
    if (ld.empty()) ld = DefaultLd(operand, by_column[static_cast<size_t>(operand)]);
  }
  return key;
}

// True if there is a call that both would answer. Leading dimensions are compared at the least sizes that
// both have.
bool Meet(const MatmulKey& a, const MatmulKey& b) {
  std::array<uint32_t, 3> at;
  for (size_t i = 0; i < at.size(); ++i) {
    at[i] = std::max(a.sizes[i].low, b.sizes[i].low);
    if (at[i] > std::min(a.sizes[i].high, b.sizes[i].high)) return false;
  }
  for (int operand = 0; operand < 3; ++operand)
    if (operand != a.constant && a.ld_of(operand, at) != b.ld_of(operand, at)) return false;
  return a.form == b.form;
}

// A function of the file that FILE_matmul calls.
struct Entry {
  const HeaderFunction* function = nullptr;
  MatmulKey key;
};

std::vector<Entry> MakeEntries(const HeaderFile& file) {
  std::vector<Entry> entries;
  for (const HeaderFunction& function : file.functions)
    if (std::optional<MatmulKey> key = ParseMatmulKey(function.text))
      entries.push_back({&function, *std::move(key)});
  return entries;
}

// Returns the forms, each once, in the order of the file. Each becomes a value of the enum of types.
std::vector<std::string> FormsOf(const std::vector<Entry>& entries) {
  std::vector<std::string> forms;
  for (const Entry& entry : entries)
    if (std::ranges::find(forms, entry.key.form) == forms.end()) forms.push_back(entry.key.form);
  return forms;
}

// "f32 rhs=col" in FILE becomes FILE_f32_rhs_col.
std::string TypeName(const std::string& file, const std::string& form) {
  return Cat(file, "_", MakeIdentifier(absl::StrReplaceAll(form, {{"->", "_"}})));
}

// "m >= 1 && m <= 512 && k == 2048 && n == 512"
std::string SizesCondition(const MatmulKey& key) {
  std::vector<std::string> conditions;
  for (size_t i = 0; i < kSizes.size(); ++i) {
    const SizeRange& range = key.sizes[i];
    conditions.push_back(range.varies()
                             ? Cat(kSizes[i], " >= ", range.low, " && ", kSizes[i], " <= ", range.high)
                             : Cat(kSizes[i], " == ", range.low));
  }
  return Join(conditions, " && ");
}

// A leading dimension that is a fixed size is printed as a number.
std::string LdText(const MatmulKey& key, int operand) {
  const std::string& ld = key.ld[static_cast<size_t>(operand)];
  for (size_t i = 0; i < kSizes.size(); ++i)
    if (ld == kSizes[i] && !key.sizes[i].varies()) return Cat(key.sizes[i].low);
  return ld;
}

// " && lda == 2048 && ldc == n": of all operands but the packed one, whose layout NAME_pack has seen.
std::string LdsCondition(const MatmulKey& key) {
  std::string text;
  for (int operand = 0; operand < 3; ++operand)
    if (operand != key.constant)
      Append(&text, " && ", kLds[static_cast<size_t>(operand)], " == ", LdText(key, operand));
  return text;
}

int64_t ScratchBytes(const HeaderFunction& function) { return WholeLines(function.scratch_bytes()); }

// Bytes that one caller needs who does all phases by itself: scratch memory, then shared memory behind it.
int64_t BytesFor(const HeaderFunction& function) { return ScratchBytes(function) + function.shared_bytes(); }

// Returns the arguments that are tensors, cast to the types that the function takes.
std::string Tensors(const CSignature& signature) {
  std::string text;
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    const EntryTensor& tensor = signature.tensors[i];
    const std::string_view name = kMatmulInfo.operands[static_cast<size_t>(tensor.operand)].name;
    const std::string type = tensor.name == kPacked ? "void" : CType(tensor.dtype);
    Append(&text, i > 0 ? ", " : "", "(", tensor.stored ? "" : "const ", type, "*)", std::string(name));
  }
  return text;
}

// Returns the statements that run the function whose conditions hold, with `indent` before each line. A
// kernel for columns gets the thread's share of them. FILE_matmul has no barrier, so what has several phases
// is done by one thread alone.
std::string VariantRunText(const HeaderFunction& function, const std::string& indent) {
  const CSignature signature = function.signature();
  const bool phases = function.phases() > 1;
  std::string call = Cat(function.name, "(");
  for (const std::string& dim : function.dims) Append(&call, dim, ", ");
  call += Tensors(signature);
  // Without scratch memory of its own, its pointer would be that of the shared memory: `restrict` forbids it.
  if (signature.scratch) call += phases && function.scratch_bytes() == 0 ? ", NULL" : ", scratch";
  if (signature.columns)
    call += phases ? ", 0, n" : ", n * thread / n_threads, n * (thread + 1) / n_threads";
  else if (signature.threads)
    call += phases ? ", 0, 1" : ", thread, n_threads";
  if (signature.phases)
    call += phases ? Cat(", (char*)scratch + ", ScratchBytes(function), ", phase") : ", NULL, 0";
  call += ");\n";
  if (phases)
    return Cat(indent, "size_t phase;\n", indent, "for (phase = 0; phase < ", function.phases(),
               " && thread == 0; ++phase) ", call);
  return Cat(indent, signature.threads ? "" : "if (thread == 0) ", call);
}

// Returns a switch over the types, with the text that `case_of` has for each entry. `otherwise` is returned
// if no entry's conditions hold.
template <typename Case>
std::string TypeSwitch(const HeaderFile& file, const std::vector<Entry>& entries,
                       const std::string& otherwise, const Case& case_of) {
  std::string text = "  switch (type) {\n";
  for (const std::string& form : FormsOf(entries)) {
    std::string cases;
    for (const Entry& entry : entries)
      if (entry.key.form == form) cases += case_of(entry);
    if (!cases.empty()) Append(&text, "    case ", TypeName(file.name, form), ":\n", cases, "      break;\n");
  }
  return Cat(text, "    default:\n      break;\n  }\n  return ", otherwise, ";\n");
}

std::string TypesText(const HeaderFile& file, const std::vector<Entry>& entries) {
  std::string text =
      Cat("// What the matmuls below are of: the types of lhs, rhs and out, and how they lie.\nenum {\n");
  for (const std::string& form : FormsOf(entries))
    Append(&text, "  ", TypeName(file.name, form), ",  // ", form, "\n");
  return text + "};\n";
}

constexpr char kMatmul[] = R"(
// out = lhs * rhs (lhs m x k, rhs k x n, out m x n) by the kernel for this type, these sizes and these leading
// dimensions. false, and nothing is touched: there is none, or not for this CPU.
// scratch: $FILE_scratch_bytes() bytes, 64-byte aligned, of each thread its own; NULL if that is 0.
// Thread 0 <= thread < n_threads does its share, all together compute the result; what can't be shared is thread
// 0's. An operand that is packed ahead is what $FILE_matmul_pack made of it; its leading dimension is not
// looked at.
$LINKAGEbool $FILE_matmul(int type, size_t m, size_t k, size_t n, size_t lda, size_t ldb, size_t ldc, const void* lhs, const void* rhs,
    void* out, void* scratch, size_t thread, size_t n_threads) {
$UNUSED$SWITCH}
)";

constexpr char kScratchFunction[] = R"(
// Bytes of scratch memory that any call of $FILE_matmul needs.
$LINKAGEsize_t $FILE_scratch_bytes(void) {
  return $BYTES;
}
)";

constexpr char kPack[] = R"(
// Bytes of the constant operand of a matmul of this type and these sizes when it is packed; 0 if there is no
// such matmul.
$LINKAGEsize_t $FILE_matmul_packed_bytes(int type, size_t m, size_t k, size_t n) {
$BYTES_SWITCH}

// Packs it into 64-byte aligned memory of so many bytes, for calls by this CPU with whatever m one kernel has. ld:
// the operand's leading dimension. false, and nothing is touched: there is no such matmul, or not for this CPU.
$LINKAGEbool $FILE_matmul_pack(int type, size_t m, size_t k, size_t n, size_t ld, const void* operand, void* packed) {
$PACK_SWITCH}
)";

// The conditions are on sizes and leading dimensions, and on the CPU: the function has to be supported.
std::string MatmulCase(const Entry& entry) {
  const std::string indent = "        ";
  return Cat("      if (", SizesCondition(entry.key), LdsCondition(entry.key), " && ", entry.function->name,
             "_supported()) {\n", VariantRunText(*entry.function, indent), indent, "return true;\n      }\n");
}

// The packed operand has one layout for all m of a function, so no leading dimension is asked for.
std::string PackedBytesCase(const Entry& entry) {
  if (entry.key.constant < 0) return "";
  return Cat("      if (", SizesCondition(entry.key), ") return ", entry.function->name,
             "_packed_bytes();\n");
}

std::string PackCase(const Entry& entry) {
  if (entry.key.constant < 0) return "";
  const std::string type = CType(entry.function->signature().constants.front().dtype);
  return Cat("      if (", SizesCondition(entry.key), " && ld == ", LdText(entry.key, entry.key.constant),
             " && ", entry.function->name, "_supported()) {\n        ", entry.function->name, "_pack((const ",
             type, "*)operand, packed);\n        return true;\n      }\n");
}

}  // namespace

// Each pair of keys is compared: the function would have to choose one of the two.
absl::Status CheckMatmulDispatch(absl::Span<const DispatchedText> texts) {
  std::vector<std::pair<const DispatchedText*, MatmulKey>> keys;
  for (const DispatchedText& text : texts) {
    // Other texts of the file are no fault: they have functions of their own.
    std::optional<MatmulKey> key = ParseMatmulKey(text.text);
    if (!key) continue;
    for (const auto& [before, other] : keys)
      if (Meet(other, *key))
        return absl::InvalidArgumentError(Cat("--dispatch: expected one kernel for each matmul, got ",
                                              Quoted(before->name), " and ", Quoted(text.name),
                                              " with a size in common"));
    keys.emplace_back(&text, *std::move(key));
  }
  if (!keys.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--dispatch: expected a matmul without a batch, whose epilogue takes no operand, got none");
}

std::vector<std::string> MatmulDispatchNames(const std::string& file,
                                             absl::Span<const DispatchedText> texts) {
  std::vector<std::string> names;
  for (const char* suffix : {"_matmul", "_scratch_bytes", "_matmul_packed_bytes", "_matmul_pack"})
    names.push_back(Cat(file, suffix));
  for (const DispatchedText& text : texts)
    if (const std::optional<MatmulKey> key = ParseMatmulKey(text.text))
      names.push_back(TypeName(file, key->form));
  return names;
}

std::string PrintMatmulDispatch(const HeaderFile& file, const std::string& linkage) {
  const std::vector<Entry> entries = MakeEntries(file);
  if (entries.empty()) return "";  // of part of a file
  int64_t bytes = 0;
  bool scratch = false, packs = false;
  std::array<bool, 3> ld_used = {};
  for (const Entry& entry : entries) {
    bytes = std::max(bytes, BytesFor(*entry.function));
    scratch |= entry.function->signature().scratch;
    packs |= entry.key.constant >= 0;
    for (int operand = 0; operand < 3; ++operand)
      ld_used[static_cast<size_t>(operand)] |= operand != entry.key.constant;
  }
  // Parameters that no kernel of this file needs are still there, so that the signature is the same in all
  // files.
  std::string unused = Cat(scratch ? "" : "  (void)scratch;\n", "  (void)n_threads;\n");
  for (size_t operand = 0; operand < ld_used.size(); ++operand)
    if (!ld_used[operand]) Append(&unused, "  (void)", kLds[operand], ";\n");
  std::string text =
      Cat(TypesText(file, entries),
          absl::StrReplaceAll(
              kMatmul, {{"$UNUSED", unused}, {"$SWITCH", TypeSwitch(file, entries, "false", MatmulCase)}}),
          absl::StrReplaceAll(kScratchFunction, {{"$BYTES", Cat(bytes)}}));
  if (packs)
    text += absl::StrReplaceAll(kPack, {{"$BYTES_SWITCH", TypeSwitch(file, entries, "0", PackedBytesCase)},
                                        {"$PACK_SWITCH", TypeSwitch(file, entries, "false", PackCase)}});
  return absl::StrReplaceAll(text, {{"$FILE", file.name}, {"$LINKAGE", linkage}});
}

}  // namespace kirsch
