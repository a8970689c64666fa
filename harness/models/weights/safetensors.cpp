#include "harness/models/weights/safetensors.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/safetensors_file.h"
#include "harness/models/weights/tensor_types.h"

namespace hyfreedp::models {
namespace {

NamedTensors views_of(const StoredTensors& stored) {
  NamedTensors tensors;
  for (const auto& [name, tensor] : stored) tensors[name] = view_of(tensor);
  return tensors;
}

}  // namespace

Result<NamedTensors> read_safetensors(const std::string& path) {
  const auto stored = read_stored_safetensors(path);
  if (!stored) return stored.error();
  return views_of(*stored);
}

Result<TensorsWithMetadata> parse_safetensors(const SharedBytes& bytes, const std::string& where) {
  auto stored = hyfreedp::parse_safetensors(bytes, where);
  if (!stored) return stored.error();
  return TensorsWithMetadata{views_of(stored->tensors), std::move(stored->metadata)};
}

Result<void> serialize_safetensors(const TensorsWithMetadata& content, const std::string& where,
                                   const std::function<Result<void>(std::string_view piece)>& write) {
  json::object header;
  header["__metadata__"] = content.metadata;
  std::size_t bytes = 0;
  // Wide elements first keeps every tensor aligned to its element size.
  std::vector<std::pair<std::string, torch::Tensor>> ordered(content.tensors.begin(), content.tensors.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& left, const auto& right) {
    return left.second.element_size() > right.second.element_size();
  });
  for (const auto& [name, value] : ordered) {
    const auto* const type = tensor_type(value.scalar_type());
    if (type == nullptr)
      return error(fmt::format("{}: tensor '{}' has a type that is not written", where, name));
    json::array shape;
    for (const auto length : value.sizes()) shape.push_back(length);
    header[name] = json::object{{"dtype", name_of(type->stored)},
                                {"shape", shape},
                                {"data_offsets", json::array{bytes, bytes + value.nbytes()}}};
    bytes += value.nbytes();
  }
  auto text = json::serialize(header);
  while (text.size() % 8 != 0) text.push_back(' ');
  const std::uint64_t length = text.size();
  if (auto written = write({reinterpret_cast<const char*>(&length), sizeof length}); !written) return written;
  if (auto written = write(text); !written) return written;
  for (const auto& [name, value] : ordered) {
    const auto plain = value.detach().cpu().contiguous();
    if (auto written = write({static_cast<const char*>(plain.data_ptr()), plain.nbytes()}); !written) {
      return written;
    }
  }
  return {};
}

Result<void> write_safetensors(const std::string& path, const NamedTensors& tensors, json::object metadata) {
  metadata["format"] = "pt";
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  const auto append = [&](std::string_view piece) { return file->append(piece); };
  if (auto written = serialize_safetensors({tensors, std::move(metadata)}, path, append); !written) {
    return written;
  }
  return file->move_into_place();
}

}  // namespace hyfreedp::models
