// SPDX-License-Identifier: Apache-2.0
// Writes copies of panels whose blocks are kept as they were, into those that products take fewest
// instructions of: codes get 8 bits, and parts numbers of their own. A tile is copied at a time, for many
// rows of lhs.
#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/block_panels.h"
#include "codegen/kernels/panel_reader.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// Reads a vector of columns with PanelReader and stores it as it is: both kinds of panels lie word by word.
class WiderPanels {
 public:
  explicit WiderPanels(const Pack& pack)
      : pack_(pack),
        narrow_(FormatOf(pack.from.dtype)),
        wide_(FormatOf(pack.to.dtype)),
        builder_(pack.Name()),
        from_(builder_.PointerParameter("from", PointeeOf(pack.from.dtype), false)),
        to_(builder_.PointerParameter("to", PointeeOf(pack.to.dtype), true)),
        lanes_(pack.vector_bytes / kWordBytes),
        reader_(builder_, pack.from, lanes_),
        codes_(builder_.Vector("codes", Dtype::kU8, pack.vector_bytes)),
        number_(builder_.Vector("number", Dtype::kF32, lanes_)) {
    KIRSCH_CHECK(pack.from.order == pack.to.order && pack.from.panel == pack.to.panel);
    KIRSCH_CHECK(pack.to.dtype == InPanels(pack.from.dtype) && pack.outer % block() == 0);
  }

  // Panel by panel, and block by block along the reduction.
  Procedure Build() && {
    const int64_t width = pack_.to.panel;
    builder_.Loop(Constant((pack_.inner + width - 1) / width), [&](VarId panel) {
      const Affine from = Plus(Constant(0), panel, Bytes(pack_.from.dtype, pack_.from.panel_stride)),
                   to = Plus(Constant(0), panel, Bytes(pack_.to.dtype, pack_.to.panel_stride));
      builder_.Loop(Constant(pack_.outer / block()), [&](VarId number) {
        Blocks(Plus(from, number, Bytes(pack_.from.dtype, pack_.from.OuterOffset(block()))),
               Plus(to, number, Bytes(pack_.to.dtype, pack_.to.OuterOffset(block()))));
      });
    });
    return std::move(builder_).Build();
  }

 private:
  // The elements of a block of the source, of a block of the copy, and of a part of the copy's that has its
  // own scale.
  int block() const { return BlockOf(pack_.from.dtype); }
  int step() const { return BlockOf(pack_.to.dtype); }
  int part() const { return wide_.part == 0 ? step() : wide_.part; }

  // Copies a block of each column of a panel: whole vectors of columns, then what is left of the panel.
  void Blocks(const Affine& from, const Affine& to) {
    const int64_t width = pack_.to.panel, whole = width / lanes_;
    builder_.Loop(Constant(whole), [&](VarId vector) {
      const Affine column = Plus(Constant(0), vector, lanes_);
      reader_.Begin({from_, from}, column);
      BlocksOf(reader_.ColumnsFrom(0), Plus(to, Times(column, kWordBytes)));
    });
    if (whole * lanes_ == width) return;
    reader_.Begin({from_, from}, Constant(0));
    BlocksOf(reader_.ColumnsFrom(whole * lanes_), to);
  }

  // Writes the blocks that a block of the source becomes, for these columns.
  void BlocksOf(const PanelReader::Columns& columns, const Affine& to) {
    for (int first = 0; first < block(); first += step()) {
      Numbers(first, columns, to);
      for (int k = 0; k < step(); k += kWordSteps) Codes(first, k, columns, to);
    }
  }

  // Stores scales and offsets of the steps from `first` on, as f32.
  void Numbers(int first, const PanelReader::Columns& columns, const Affine& to) {
    const auto store = [&](int byte) {
      builder_.Do(Store{number_, Word(first, columns, byte, to), columns.count, false, Dtype::kF32});
    };
    for (int i = 0; i < step() / part(); ++i) {
      reader_.Scale(number_, PartOf(first + i * part()), columns);
      store(wide_.scale_byte + i * wide_.scale_step);
    }
    if (wide_.offset_byte < 0) return;
    reader_.Offset(number_, PartOf(first), columns);
    store(wide_.offset_byte);
  }

  // Returns the part of a block of the source that has the element.
  int PartOf(int element) const { return narrow_.part == 0 ? 0 : element / narrow_.part; }

  // Stores a word of codes, with the bias of the copy's type.
  void Codes(int first, int k, const PanelReader::Columns& columns, const Affine& to) {
    constexpr uint32_t kOnes = 0x01010101u;
    reader_.Codes(codes_, first + k, columns);
    if (const int more = wide_.bias - narrow_.bias; more != 0)
      builder_.Do(
          Binary{BinaryOp::kAdd, codes_, codes_,
                 builder_.Filled(Dtype::kU8, pack_.vector_bytes, kOnes * static_cast<uint32_t>(more))});
    builder_.Do(Store{codes_, Word(first, columns, wide_.code(k).byte, to), columns.count * kWordSteps});
  }

  // Returns where the copy has the word of these columns with byte `byte` of a block.
  Address Word(int first, const PanelReader::Columns& columns, int byte, const Affine& to) const {
    return {to_, Plus(to, PlaceInPanels(pack_.to, first, columns.first, byte))};
  }

  const Pack& pack_;
  const BlockFormat &narrow_, &wide_;
  ProcedureBuilder builder_;
  const VarId from_, to_;
  const int lanes_;
  PanelReader reader_;
  const VarId codes_, number_;
};

}  // namespace

Procedure WiderPanelsProcedure(const Pack& pack) { return WiderPanels(pack).Build(); }

}  // namespace kirsch
