// Reads PyTorch's state dicts, as torch.save writes them, without LibTorch and without executing
// anything (pickle.h). Two forms (torch/serialization.py; the file's beginning tells which):
//
//   zip       PREFIX/data.pkl, a pickle whose tensors name storages, and PREFIX/data/KEY, the bytes
//             of each storage; entries are stored, not compressed. Since PyTorch 1.6
//   stream    five pickles: magic number, protocol 1001, a dict about the system, the object, the
//             list of storage keys; then of each storage its number of elements (8 bytes) and its
//             bytes. Before, and today with _use_new_zipfile_serialization=False
//
//   names         the state dict's keys
//   a wrapper     in {"state_dict": {NAME: tensor ..}, "epoch": 3, ..} the tensors lie one dict
//                 deeper. If no member is a tensor and exactly one is a dict with tensors in it,
//                 its tensors are read under their own names, without the wrapper's. What lies
//                 deeper than that (an optimizer's state) and what is neither tensor nor dict (3)
//                 is left out
//   types         float64, float32, float16, bfloat16, int64, int32, int16, int8, uint8, bool
//   parameters    as the tensors that they hold
// Tensors in C order are parts of the mapped file (of a copy of the storage, where it lies at an
// address that does not suit its type: often in the stream form); others are copied.
//
// Refused, by an error that names the tensor, function or opcode: every other function, type or
// opcode; big-endian files; tensors outside their storage; storages outside the file, or of two
// types; a file with tensors on two levels or in several dicts; copies of more than twice the
// file's size, where copies for alignment, together no larger than the file, are not counted.
// Memory is taken after these checks.
#pragma once

#include "harness/models/files/strided_view.h"

namespace hyfreedp::models {

Result<StoredTensors> read_state_dict(const std::string& path);
// The same of a file that lies in memory. `where` begins every error.
Result<StoredTensors> parse_state_dict(const SharedBytes& file, const std::string& where);

}  // namespace hyfreedp::models
