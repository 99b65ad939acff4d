// SPDX-License-Identifier: Apache-2.0
#include "products.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace products {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kColumns = 64;  // of a block: threads share columns in multiples of it

size_t RoundedUp(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// True for types of blocks; HasIntegers: for all of these but sfp.
bool IsOfBlocks(kirsch_type type) { return kirsch_type_block(type) > 1; }
bool HasIntegers(kirsch_type type) { return IsOfBlocks(type) && type != KIRSCH_SFP8; }

// Returns the address of row `row`. `stride` counts elements, of which types of blocks have several in a few
// bytes.
const void* RowOf(const void* matrix, size_t row, size_t stride, kirsch_type type) {
  return static_cast<const char*>(matrix) +
         row * (stride / kirsch_type_block(type)) * kirsch_type_bytes(type);
}

}  // namespace

bool Shape::Packs() const { return weights == KIRSCH_F32 || HasIntegers(weights); }

size_t Shape::WeightsBytes() const {
  return ldb / kirsch_type_block(weights) * kirsch_type_bytes(weights) * n;
}

std::string Shape::Text() const {
  const auto number = [](size_t value) { return std::to_string(value); };
  std::string text = std::string("matmul ") + kirsch_type_name(lhs) + "*" + kirsch_type_name(weights) + "->" +
                     kirsch_type_name(out) + " " + (rows > 1 ? "1.." : "") + number(rows) + "x" + number(k) +
                     "x" + number(n) + " rhs=col";
  // Leading dimensions that are those of dense matrices need no word.
  if (lda != k) text += " lda=" + number(lda);
  if (ldb != k) text += " ldb=" + number(ldb);
  if (ldc != n) text += " ldc=" + number(ldc);
  // Activations may be rounded as engines round them: to the type of the weights, or to blocks of 8 bits
  // beside those of integers.
  if (lhs == KIRSCH_F32 && HasIntegers(weights))
    text += " lhs-as=q8_0";
  else if (lhs == KIRSCH_F32 && weights == KIRSCH_F16)
    text += " lhs-as=f16";
  else if (weights == KIRSCH_BF16 ? lhs == KIRSCH_F32 : IsOfBlocks(weights))
    text += " lhs-as=bf16";
  if (scaled) text += " epilogue=mul:scalar";
  if (Packs()) text += " const-rhs";
  // Of one row there are many calls to each of a long prompt, of about the same time in all.
  if (Packs() && rows > 1) text += " mixture=1:0.98," + number(rows) + ":0.02";
  return text + " column-blocks=" + number(kColumns);
}

void Memory::Free::operator()(void* memory) const { std::free(memory); }

Memory::Memory(size_t bytes) { AtLeast(bytes); }

void* Memory::AtLeast(size_t bytes) {
  if (bytes <= bytes_) return data();
  const size_t alignment = bytes < kHugePage ? kAlignment : kHugePage, size = RoundedUp(bytes, alignment);
  data_.reset(std::aligned_alloc(alignment, size));
  if (data() == nullptr) throw std::bad_alloc();
  // Weights are read from RAM in every pass, in as many pages as they take. A system without such pages
  // refuses, which is as well.
  if (alignment == kHugePage) madvise(data(), size, MADV_HUGEPAGE);
  bytes_ = bytes;
  return data();
}

kirsch::Result<Product> Product::Make(const kirsch::Context& context, const Shape& shape) {
  // The steps of every kernel: the text, the search, the code. The first error ends them.
  const kirsch::Result<kirsch::Request> request = kirsch::Request::Parse(shape.Text());
  if (!request) return request.error();
  kirsch::SolveOptions options;
  options.cold = "rhs";  // a model's weights are read from RAM in every pass
  const kirsch::Result<kirsch::Solution> solution = context.Solve(*request, options);
  if (!solution) return solution.error();
  kirsch::Result<kirsch::Kernel> kernel = solution->Compile();
  if (!kernel) return kernel.error();
  return Product(shape, std::move(*kernel));
}

std::vector<const void*> Product::Operands(const void* lhs, const void* weights, const float* factor,
                                           const void* out) const {
  if (shape_.scaled) return {lhs, weights, factor, out};
  return {lhs, weights, out};
}

kirsch::Result<kirsch::Done> Product::Pack(const void* weights, void* packed) const {
  if (shape_.Packs()) return kernel_.Pack(Operands(nullptr, weights, nullptr, nullptr), packed);
  std::memcpy(packed, weights, packed_bytes());
  return kirsch::Done{};
}

// More rows than the kernel is for are done in pieces.
kirsch::Result<kirsch::Done> Product::Run(size_t rows, const void* lhs, const void* packed, void* out,
                                          Workers& workers, float factor) const {
  for (size_t row = 0; row < rows; row += shape_.rows) {
    const std::vector<const void*> operands = Operands(RowOf(lhs, row, shape_.lda, shape_.lhs), packed,
                                                       &factor, RowOf(out, row, shape_.ldc, shape_.out));
    const kirsch::Result<kirsch::Done> done =
        RunPiece(std::min(shape_.rows, rows - row), operands, shape_.Packs() ? packed : nullptr, workers);
    if (!done) return done;
  }
  return kirsch::Done{};
}

// Gives each thread a range of columns, in whole blocks of columns, and goes through the kernel's phases.
kirsch::Result<kirsch::Done> Product::RunPiece(size_t rows, const std::vector<const void*>& operands,
                                               const void* packed, Workers& workers) const {
  const size_t threads = workers.threads(), share = RoundedUp((shape_.n + threads - 1) / threads, kColumns);
  const kirsch::Sizes sizes = shape_.rows > 1 ? kirsch::Sizes{rows} : kirsch::Sizes{};
  // Memory grows to what the largest product so far needs.
  void* const shared = workers.shared_.AtLeast(kernel_.shared_bytes());
  for (Memory& own : workers.own_) own.AtLeast(kernel_.scratch_bytes());
  kirsch::Result<kirsch::Done> result = kirsch::Done{};
#pragma omp parallel num_threads(static_cast<int>(threads)) if (threads > 1)
  for (size_t phase = 0; phase < kernel_.phases(); ++phase) {
    // As many as there really are: fewer, where the runtime has no more.
    const auto team = static_cast<size_t>(omp_get_num_threads());
    for (auto thread = static_cast<size_t>(omp_get_thread_num()); thread < threads; thread += team) {
      kirsch_part part = {
          sizeof part, std::min(thread * share, shape_.n), std::min((thread + 1) * share, shape_.n),
          phase,       workers.own_[thread].data(),        shared};
      const kirsch::Result<kirsch::Done> done = kernel_.Part(part, operands, sizes, packed);
#pragma omp critical
      if (!done) result = done;
    }
#pragma omp barrier
  }
  return result;
}

Products& Products::OfProcess() {
  const char* table = std::getenv("KIRSCH_TABLE");
  static Products products(table == nullptr ? "" : table);
  return products;
}

kirsch::Result<const Product*> Products::Find(const Shape& shape) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto known = known_.find(shape);
  if (known == known_.end()) known = known_.emplace(shape, Product::Make(context_, shape)).first;
  const kirsch::Result<Product>& product = known->second;
  if (!product) return product.error();
  return &*product;
}

}  // namespace products
