// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/peak.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/machine/team.h"
#include "bench/workload/element.h"
#include "spec/target/clock.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr int64_t kIterations = 1 << 17;  // of a loop, per Run(): long beside a fork and join
constexpr int kChains = 12;               // 2 ports * 6 cycles of latency on the slowest CPU

// A loop of `instructions` on each of twelve registers; 12 is the constant factor, 13 is free. Assembly
// throughout, so that no compiler knows what is computed, and none has to know the instruction. The factor is
// a half, as f32 and as two bf16, 2^-15 or so as f64, and 1.75 as f16: x * 1/2 + 1/2 stays near 1, sums of
// halves end at 2^24, those of f16 are infinite soon; no denormals.
#define KIRSCH_EACH_CHAIN(last, instructions) \
  ".irp i,0,1,2,3,4,5,6,7,8,9,10,11" last "\n\t" instructions "\n\t.endr\n\t"
#define KIRSCH_PEAK_LOOP(name, vector, instructions)                                                     \
  void name() {                                                                                          \
    int64_t count = kIterations;                                                                         \
    asm volatile(                                                                                        \
        "vmovd %k[half], %%xmm12\n\t" KIRSCH_EACH_CHAIN(                                                 \
            ",12",                                                                                       \
            "vpbroadcastd %%xmm12, %%" vector                                                            \
            "\\i") "1:\n\t" KIRSCH_EACH_CHAIN("", instructions) "dec %[count]\n\tjnz 1b\n\tvzeroupper"   \
        : [count] "+r"(count)                                                                            \
        : [half] "r"(0x3f003f00)                                                                         \
        : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
          "xmm11", "xmm12", "xmm13");                                                                    \
  }

// Floats: f32, f64 and f16.
KIRSCH_PEAK_LOOP(Fma256, "ymm", "vfmadd213ps %%ymm12, %%ymm12, %%ymm\\i")
KIRSCH_PEAK_LOOP(Fma512, "zmm", "vfmadd213ps %%zmm12, %%zmm12, %%zmm\\i")
KIRSCH_PEAK_LOOP(FmaF64Ymm, "ymm", "vfmadd213pd %%ymm12, %%ymm12, %%ymm\\i")
KIRSCH_PEAK_LOOP(FmaF64Zmm, "zmm", "vfmadd213pd %%zmm12, %%zmm12, %%zmm\\i")
KIRSCH_PEAK_LOOP(FmaF16Zmm, "zmm", "vfmadd213ph %%zmm12, %%zmm12, %%zmm\\i")
// Dot products of pairs of bf16, and of four bytes.
KIRSCH_PEAK_LOOP(DotBf16Evex256, "ymm", "vdpbf16ps %%ymm12, %%ymm12, %%ymm\\i")
KIRSCH_PEAK_LOOP(DotBf16Evex512, "zmm", "vdpbf16ps %%zmm12, %%zmm12, %%zmm\\i")
KIRSCH_PEAK_LOOP(DotInt8Vex256, "ymm", "%{vex%} vpdpbusd %%ymm12, %%ymm12, %%ymm\\i")
KIRSCH_PEAK_LOOP(DotInt8Evex512, "zmm", "vpdpbusd %%zmm12, %%zmm12, %%zmm\\i")
// Products of 16-bit and of 32-bit integers: two instructions each, with a register in between.
KIRSCH_PEAK_LOOP(DotInt16Vex256, "ymm",
                 "vpmaddwd %%ymm12, %%ymm12, %%ymm13\n\tvpaddd %%ymm13, %%ymm\\i, %%ymm\\i")
KIRSCH_PEAK_LOOP(DotInt16Evex512, "zmm",
                 "vpmaddwd %%zmm12, %%zmm12, %%zmm13\n\tvpaddd %%zmm13, %%zmm\\i, %%zmm\\i")
KIRSCH_PEAK_LOOP(MultiplyInt32Vex256, "ymm",
                 "vpmulld %%ymm12, %%ymm12, %%ymm13\n\tvpaddd %%ymm13, %%ymm\\i, %%ymm\\i")
KIRSCH_PEAK_LOOP(MultiplyInt32Evex512, "zmm",
                 "vpmulld %%zmm12, %%zmm12, %%zmm13\n\tvpaddd %%zmm13, %%zmm\\i, %%zmm\\i")

// A loop of products of tiles, with four accumulators of zeros. A product is of 16 rows, 16 columns and 64
// bytes of the reduction, so a loop has fewer of them.
constexpr int64_t kTileIterations = kIterations / 16;
// The operand of LDTILECFG: six tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16};
};
#define KIRSCH_TILE_PEAK_LOOP(name, product)                                          \
  void name() {                                                                       \
    static constexpr TileConfiguration kConfiguration;                                \
    int64_t count = kTileIterations;                                                  \
    asm volatile(                                                                     \
        "ldtilecfg %[configuration]\n\t"                                              \
        ".irp i,0,1,2,3,4,5\n\ttilezero %%tmm\\i\n\t.endr\n\t"                        \
        "1:\n\t.irp i,0,1,2,3\n\t" product                                            \
        " %%tmm5, %%tmm4, %%tmm\\i\n\t.endr\n\tdec %[count]\n\tjnz 1b\n\ttilerelease" \
        : [count] "+r"(count)                                                         \
        : [configuration] "m"(kConfiguration)                                         \
        : "cc");                                                                      \
  }
KIRSCH_TILE_PEAK_LOOP(TileBf16, "tdpbf16ps")
KIRSCH_TILE_PEAK_LOOP(TileInt8, "tdpbusd")
#undef KIRSCH_TILE_PEAK_LOOP
#undef KIRSCH_PEAK_LOOP
#undef KIRSCH_EACH_CHAIN

// Conditions of kPeakMethods: what the CPU has.
bool Always() { return true; }
bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool HasAvx512() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"); }
bool HasAvxVnni() { return __builtin_cpu_supports("avxvnni"); }
bool HasAvx512Vnni() { return __builtin_cpu_supports("avx512vnni"); }
bool HasAvx512Bf16() { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl"); }

// Features for which the compiler has no builtin.
bool HostHas(std::string_view feature) {
  static const std::vector<std::string>& features = *new std::vector<std::string>(ReadHost().features);
  return std::find(features.begin(), features.end(), feature) != features.end();
}
bool HasAvx512Fp16() { return HostHas("avx512fp16"); }
bool HasTilesOfBf16() { return HostHas("amx-bf16"); }
bool HasTilesOfInt8() { return HostHas("amx-int8"); }

// Conditions of kPeakMethods: the products that an instruction can be part of, by their types.
bool None(const Problem&) { return false; }
Dtype SumsOf(const Problem& p) { return AccumulatorOf(static_cast<Dtype>(p.out_type)); }
bool Floats(const Problem& p) { return SumsOf(p) == Dtype::kF32; }
bool Doubles(const Problem& p) { return SumsOf(p) == Dtype::kF64; }
bool Halves(const Problem& p) { return SumsOf(p) == Dtype::kF16Sums; }
bool Bf16Inputs(const Problem& p) { return p.lhs_type == KIRSCH_BF16 && p.rhs_type == KIRSCH_BF16; }
bool ByteInputs(const Problem& p) { return Bytes(p.lhs_type) == 1 && Bytes(p.rhs_type) == 1; }
bool Integers(const Problem& p) { return IsInteger(p.out_type); }

// Operations of a Run(): `operations` of each 32 bits of a vector, so 2 of an FMA of f32 and 8 of a dot
// product of bytes.
constexpr double Work(int vector_bytes, int operations) {
  return static_cast<double>(kIterations) * kChains * operations * vector_bytes / 4;
}

// A product of tiles has a multiplication and an addition for each of 16 x 16 sums and each step of the
// reduction.
constexpr double TileWork(int steps) {
  return static_cast<double>(kTileIterations) * 4 * 16 * 16 * steps * 2;
}

// Rows have: the name, bytes of a vector, work, what the CPU must have, which products it computes, and the
// loop.
constexpr std::array<PeakMethod, 16> kPeakMethods = {{
    {"clock", 0, kClockCycles, Always, None, RunClockLoop},
    {"fma", 32, Work(32, 2), HasAvx2, Floats, Fma256},
    {"fma", 64, Work(64, 2), HasAvx512, Floats, Fma512},
    {"fmaf64", 32, Work(32, 1), HasAvx2, Doubles, FmaF64Ymm},
    {"fmaf64", 64, Work(64, 1), HasAvx512, Doubles, FmaF64Zmm},
    {"fmaf16", 64, Work(64, 4), HasAvx512Fp16, Halves, FmaF16Zmm},
    {"vdpbf16ps", 32, Work(32, 4), HasAvx512Bf16, Bf16Inputs, DotBf16Evex256},
    {"vdpbf16ps", 64, Work(64, 4), HasAvx512Bf16, Bf16Inputs, DotBf16Evex512},
    {"tdpbf16ps", 64, TileWork(32), HasTilesOfBf16, Bf16Inputs, TileBf16},
    {"tdpbusd", 64, TileWork(64), HasTilesOfInt8, ByteInputs, TileInt8},
    {"vpdpbusd", 32, Work(32, 8), HasAvxVnni, ByteInputs, DotInt8Vex256},
    {"vpdpbusd", 64, Work(64, 8), HasAvx512Vnni, ByteInputs, DotInt8Evex512},
    {"vpmaddwd+vpaddd", 32, Work(32, 4), HasAvx2, ByteInputs, DotInt16Vex256},
    {"vpmaddwd+vpaddd", 64, Work(64, 4), HasAvx512, ByteInputs, DotInt16Evex512},
    {"vpmulld+vpaddd", 32, Work(32, 2), HasAvx2, Integers, MultiplyInt32Vex256},
    {"vpmulld+vpaddd", 64, Work(64, 2), HasAvx512, Integers, MultiplyInt32Evex512},
}};

// Runs a loop on all threads at the same time. It needs no operands.
class PeakContender : public Contender {
 public:
  explicit PeakContender(int threads) : threads_(threads) {}

  absl::StatusOr<ContenderInfo> Load() override {
    KIRSCH_RETURN_IF_ERROR(team_.Load(threads_));
    ContenderInfo info;
    info.name = "peak";
    for (const PeakMethod& method : kPeakMethods) info.methods.emplace_back(method.instruction);
    return info;
  }

  absl::Status Prepare(const Workload&, size_t, size_t method) override {
    const PeakMethod& peak = kPeakMethods[method];
    if (!peak.present()) return absl::UnimplementedError(Cat("this CPU lacks ", peak.instruction));
    loop_ = peak.loop;
    return absl::OkStatus();
  }

  void Run() override {
    // All threads run at the same time, as those of a kernel do.
    team_.Run([loop = loop_](size_t) { loop(); });
  }

 private:
  int threads_;
  Team team_;
  void (*loop_)() = nullptr;
};

}  // namespace

std::span<const PeakMethod> PeakMethods() { return kPeakMethods; }

std::unique_ptr<Contender> MakePeakContender(int threads) { return std::make_unique<PeakContender>(threads); }

}  // namespace kirsch
