// Reads Python's pickles as data. A pickle is a program for a stack machine, which can call any
// function in Python; here a call is a value that names the function, and nothing is ever executed.
// (Python's documentation of `pickle` and the comments of its module `pickletools` describe the
// opcodes.)
//
//   protocols 2 to 4, and of their opcodes those that PyTorch's state dicts consist of; for the
//   arrays of NumPy also bytes, and the state that an array gets after it was made
//   names of functions and types     only those that the caller lists
// Anything else is refused by its name. Bounds: a pickle of 64 MiB, 2 million values, as many memo
// entries, 1000 open marks.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::models {

struct PickleValue {
  enum class Kind {
    kNone,
    kBool,     // integer: 0 or 1
    kInteger,  // integer
    kLong,     // text: more than 8 bytes, little endian, two's complement
    kReal,     // its value is not kept
    kText,     // text
    kBytes,    // text; only of arrays
    kTuple,    // items
    kList,     // items
    kDict,     // items: key, value, key, value ..; a key may come twice. Also an OrderedDict
    kGlobal,   // text: "module.name"
    kCall,     // items: the global, the tuple of arguments and, only of arrays, the tuple that is
               // its state (BUILD), where it was given one
    kStored,   // items: the tuple that says what lies outside the pickle ("persistent id")
  };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;
  std::string_view text = {};
  // Indices of other values. There may be cycles.
  std::vector<std::uint32_t> items = {};
};

struct Pickle {
  std::deque<PickleValue> values;
  std::uint32_t root = 0;
  // Bytes that the pickle takes.
  std::size_t size = 0;

  const PickleValue& operator[](std::uint32_t index) const { return values[index]; }
};

// The content that a pickle may have.
enum class PickleOf { tensors, arrays };

// Reads the pickle that `bytes` begins with; more may follow. The values' texts are parts of
// `bytes` and of `globals` ("module.name"); both must outlive them. "collections.OrderedDict"
// without arguments becomes a kDict, whose attributes (BUILD) are left out. `where` begins every
// error, which has the offset in `bytes`.
Result<Pickle> read_pickle(std::string_view bytes, std::span<const std::string_view> globals,
                           const std::string& where, PickleOf content = PickleOf::tensors);

// For errors: "a dict", "a number", ..
const char* kind_name(PickleValue::Kind kind);

}  // namespace hyfreedp::models
