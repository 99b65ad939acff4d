// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi_plugin.h"

#include <mpi.h>

#include <algorithm>
#include <vector>

namespace {

constexpr int64_t kPiece = int64_t{1} << 30;  // bytes: MPI's counts are ints

// Calls use(first byte, bytes) for pieces of a buffer that MPI can count.
template <typename Use>
void InPieces(int64_t bytes, Use use) {
  for (int64_t begin = 0; begin < bytes; begin += kPiece)
    use(begin, static_cast<int>(std::min(kPiece, bytes - begin)));
}

int Rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int Size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace

int kirsch_mpi_start(int* rank, int* size) {
  // Other threads search meanwhile, but only this one calls MPI: MPI_THREAD_FUNNELED.
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 0;
  *rank = Rank();
  *size = Size();
  return provided >= MPI_THREAD_FUNNELED ? 1 : 0;
}

void kirsch_mpi_stop() { MPI_Finalize(); }

// Each message has two parts: how many bytes there are, and the bytes, in pieces. Rank 0 receives from one
// rank after the other, so `take` gets the bytes in the order of ranks.
void kirsch_mpi_gather(const char* data, int64_t bytes, void (*take)(void*, const char*, int64_t),
                       void* context) {
  constexpr int kTag = 0;
  // Every other rank sends its size, and then its bytes.
  if (Rank() != 0) {
    MPI_Send(&bytes, 1, MPI_INT64_T, 0, kTag, MPI_COMM_WORLD);
    InPieces(bytes, [&](int64_t begin, int count) {
      MPI_Send(data + begin, count, MPI_CHAR, 0, kTag, MPI_COMM_WORLD);
    });
    return;
  }
  // Rank 0 has its own bytes already, and receives the others' in order.
  take(context, data, bytes);
  for (int rank = 1; rank < Size(); ++rank) {
    int64_t expected = 0;
    MPI_Recv(&expected, 1, MPI_INT64_T, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::vector<char> received(static_cast<size_t>(expected));
    InPieces(expected, [&](int64_t begin, int count) {
      MPI_Recv(received.data() + begin, count, MPI_CHAR, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    take(context, received.data(), expected);
  }
}

// The same from rank 0 to all, by MPI's own broadcast.
void kirsch_mpi_broadcast(const char* data, int64_t bytes, void (*take)(void*, const char*, int64_t),
                          void* context) {
  // The size goes first, so that the others know how much to make room for.
  MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  std::vector<char> all(static_cast<size_t>(bytes));
  if (Rank() == 0) std::copy(data, data + bytes, all.begin());
  InPieces(bytes, [&](int64_t begin, int count) {
    MPI_Bcast(all.data() + begin, count, MPI_CHAR, 0, MPI_COMM_WORLD);
  });
  take(context, all.data(), bytes);
}
