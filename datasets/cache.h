// The feature cache: one file with the features and labels of several splits, computed once and
// memory-mapped by all workers.
//
//   bytes 0..4095   "hyfreedp features 1\n", canonical JSON {sha256, splits: [{name, rows,
//                   columns, type: uint8 (absent: float32)}]}, zeros
//   then            for each split: features [rows, columns], labels [rows] int64, each padded to
//                   64 bytes
//
// The file is written under another name, through a mapping, so that it may be larger than the
// memory, and renamed into place while PATH.lock is held, so that of several workers starting at
// once one computes and the others wait and map what it made. The checksum
// covers everything after the first 4096 bytes and is verified whenever the file is opened; a
// damaged file is made again, with a note on stderr.
//
// It holds private examples: file and lock have mode 0600 and their folder 0700, also where an
// earlier program made them readable by others.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "datasets/cache_file.h"
#include "datasets/dataset.h"

namespace hyfreedp::datasets {

// The memory into which a maker writes one split; initially zero.
struct TableSpace {
  std::span<float> features;       // [rows, columns]; empty in a table of bytes
  std::span<std::uint8_t> bytes;   // [rows, columns]; empty in a table of real numbers
  std::span<std::int64_t> labels;  // [rows]
};

using TableMaker = std::function<Result<void>(std::span<const TableSpace>)>;

// The tables of the file at `path`, in the order of `shapes`. If the file is absent, damaged or has
// other shapes, `make` is called first to fill them. The tensors are views of a read-only mapping,
// which lives as long as they do; writing to them is a memory fault.
Result<std::vector<SplitData>> load_or_make(const std::string& path, const std::vector<TableShape>& shapes,
                                            const TableMaker& make);

}  // namespace hyfreedp::datasets
