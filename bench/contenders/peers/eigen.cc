// SPDX-License-Identifier: Apache-2.0
// Plugs in Eigen as a peer: `out.noalias() = lhs * rhs` on maps of the caller's buffers.
//
// Eigen is header-only, so it is compiled several times for different CPUs (KIRSCH_EIGEN_ARCH names which),
// and the fastest build counts.
#include <Eigen/Core>
#include <string>

#include "bench/workload/peer.h"

namespace {

using Stride = Eigen::OuterStride<>;
// Matrices whose order is part of their type, as Eigen wants it.
template <typename Real>
using Row = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Real>
using Col = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

Eigen::Index Index(size_t value) { return static_cast<Eigen::Index>(value); }

// Multiplies the matrices of a batch. No copy is made: maps give Eigen the caller's memory, with its leading
// dimensions.
template <typename Real, typename Lhs, typename Rhs>
void Multiply(const KirschProblem& p) {
  const Real* const lhs_begin = static_cast<const Real*>(p.lhs);
  const Real* const rhs_begin = static_cast<const Real*>(p.rhs);
  Real* const out_begin = static_cast<Real*>(p.out);
  for (size_t b = 0; b < p.batch; ++b) {
    const Eigen::Map<const Lhs, 0, Stride> lhs(lhs_begin + b * p.lhs_stride, Index(p.m), Index(p.k),
                                               Stride(Index(p.lda)));
    const Eigen::Map<const Rhs, 0, Stride> rhs(rhs_begin + b * p.rhs_stride, Index(p.k), Index(p.n),
                                               Stride(Index(p.ldb)));
    Eigen::Map<Row<Real>, 0, Stride> out(out_begin + b * p.out_stride, Index(p.m), Index(p.n),
                                         Stride(Index(p.ldc)));
    if (p.accumulate)
      out.noalias() += lhs * rhs;
    else
      out.noalias() = lhs * rhs;
  }
}

// Picks the instance for the orders of both operands.
template <typename Real>
void Multiply(const KirschProblem& p) {
  if (p.lhs_col)
    return p.rhs_col ? Multiply<Real, Col<Real>, Col<Real>>(p) : Multiply<Real, Col<Real>, Row<Real>>(p);
  return p.rhs_col ? Multiply<Real, Row<Real>, Col<Real>>(p) : Multiply<Real, Row<Real>, Row<Real>>(p);
}

}  // namespace

const char* kirsch_peer_name() {
  static const std::string name = "eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
                                  std::to_string(EIGEN_MAJOR_VERSION) + "." +
                                  std::to_string(EIGEN_MINOR_VERSION);
  return name.c_str();
}

// The compiler's name for the CPU that this build is for.
const char* kirsch_peer_core() { return KIRSCH_EIGEN_ARCH; }
const char* kirsch_peer_alternatives() { return ""; }
const char* kirsch_peer_methods() { return "product"; }

void* kirsch_peer_prepare(int, const KirschProblem* problem) {
  // Other types are declined.
  if (!kirsch_is_f32(problem) && !kirsch_is_f64(problem)) return nullptr;
  Eigen::setNbThreads(problem->threads);
  return const_cast<KirschProblem*>(problem);
}

void kirsch_peer_run(void* handle) {
  const KirschProblem& p = *static_cast<const KirschProblem*>(handle);
  kirsch_is_f64(&p) ? Multiply<double>(p) : Multiply<float>(p);
}

void kirsch_peer_release(void*) {}
