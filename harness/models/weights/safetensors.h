// Safetensors files (harness/base/safetensors_file.h) as LibTorch's tensors: views of the mapped
// file, which keep it alive.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <torch/types.h>

#include "harness/base/json.h"
#include "harness/base/mapped_file.h"
#include "harness/base/result.h"

namespace hyfreedp::models {

using NamedTensors = std::map<std::string, torch::Tensor>;

// The tensors by name. A tensor must be copied
// before it is written to; writing to the mapping is a memory fault.
Result<NamedTensors> read_safetensors(const std::string& path);

// Writes the file atomically: a reader sees the old file or the new one.
// `metadata`: texts that the file has beside the usual "format".
Result<void> write_safetensors(const std::string& path, const NamedTensors& tensors,
                               json::object metadata = {});

// The same from and to bytes that are part of a file, with texts as metadata.
struct TensorsWithMetadata {
  NamedTensors tensors;
  json::object metadata;
};
Result<TensorsWithMetadata> parse_safetensors(const SharedBytes& bytes, const std::string& where);
// Passes the bytes to `write` piece by piece, in order. `where` begins messages; an error of
// `write` is returned.
Result<void> serialize_safetensors(const TensorsWithMetadata& content, const std::string& where,
                                   const std::function<Result<void>(std::string_view piece)>& write);

}  // namespace hyfreedp::models
