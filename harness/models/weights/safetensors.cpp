#include "harness/models/weights/safetensors.h"

#include <fmt/format.h>
#include <memory>

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
  std::map<std::string, UnwrittenTensor> tensors;
  for (const auto& [name, value] : content.tensors) {
    const auto* const type = tensor_type(value.scalar_type());
    if (type == nullptr)
      return error(fmt::format("{}: tensor '{}' has a type that is not written", where, name));
    const auto values = [value = value] {
      const auto plain = std::make_shared<torch::Tensor>(value.detach().cpu().contiguous());
      return SharedBytes{.bytes = {static_cast<const char*>(plain->data_ptr()), plain->nbytes()},
                         .owner = plain};
    };
    tensors[name] = {.type = type->stored, .shape = value.sizes().vec(), .values = values};
  }
  return hyfreedp::serialize_safetensors(tensors, content.metadata, write);
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
