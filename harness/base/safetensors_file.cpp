#include "harness/base/safetensors_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "harness/base/json.h"

namespace hyfreedp {
namespace {

// The names of the types, in the order of ElementType.
constexpr std::array<std::string_view, 13> kNames = {"F64", "F32", "F16", "BF16", "I64", "I32", "I16",
                                                     "I8",  "U64", "U32", "U16",  "U8",  "BOOL"};
static_assert(kNames.size() == static_cast<std::size_t>(ElementType::kBool) + 1);

constexpr std::uint64_t kLargestHeader = 100'000'000;

std::optional<std::uint64_t> unsigned_from(const json::value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) return static_cast<std::uint64_t>(value.get_int64());
  return std::nullopt;
}

// `data`: what follows the header.
Result<StoredTensor> parse_entry(const json::value& value, const SharedBytes& data,
                                 const std::string& where) {
  const auto bad = [&](const std::string& what) { return error(where + ": " + what); };
  if (!value.is_object()) return bad("its header entry is not an object");
  const auto& object = value.get_object();
  const auto dtype = get_string(object, "dtype", where);
  if (!dtype) return dtype.error();
  const auto* const type = std::find(kNames.begin(), kNames.end(), *dtype);
  if (type == kNames.end()) {
    return bad(fmt::format("unknown dtype '{}'; read are {}", *dtype, fmt::join(kNames, ", ")));
  }
  const auto* shape = object.if_contains("shape");
  if (shape == nullptr || !shape->is_array()) return bad("'shape' is not an array");
  StoredTensor tensor{.type = static_cast<ElementType>(type - kNames.begin())};
  const auto element = static_cast<std::uint64_t>(element_size(tensor.type));
  std::uint64_t bytes = element;
  for (const auto& item : shape->get_array()) {
    const auto length = unsigned_from(item);
    if (!length || *length > INT64_MAX || __builtin_mul_overflow(bytes, *length, &bytes) ||
        bytes > INT64_MAX) {
      return bad("'shape' is not a list of lengths");
    }
    tensor.shape.push_back(static_cast<std::int64_t>(*length));
  }
  const auto* offsets = object.if_contains("data_offsets");
  if (offsets == nullptr || !offsets->is_array() || offsets->get_array().size() != 2) {
    return bad("'data_offsets' is not a pair");
  }
  const auto begin = unsigned_from(offsets->get_array()[0]);
  const auto end = unsigned_from(offsets->get_array()[1]);
  if (!begin || !end || *begin > *end || *end > data.bytes.size())
    return bad("'data_offsets' lie outside the file");
  if (*end - *begin != bytes) return bad("'data_offsets' do not fit the shape");
  tensor.values = {.bytes = data.bytes.substr(*begin, bytes), .owner = data.owner};
  return tensor;
}

}  // namespace

Result<StoredSafetensors> parse_safetensors(const SharedBytes& file, const std::string& where) {
  const auto size = file.bytes.size();
  const char* const bytes = file.bytes.data();
  std::uint64_t header_size = 0;
  if (size < sizeof header_size) return error(where + ": not a safetensors file (too short)");
  std::memcpy(&header_size, bytes, sizeof header_size);
  if (header_size > kLargestHeader || header_size > size - sizeof header_size) {
    return error(where + ": not a safetensors file (the header does not fit the file)");
  }
  auto header = parse_json({bytes + sizeof header_size, header_size}, where + ": header");
  if (!header) return header.error();
  if (!header->is_object()) return error(where + ": the header is not an object");
  const SharedBytes data{.bytes = file.bytes.substr(sizeof header_size + header_size), .owner = file.owner};

  StoredSafetensors found;
  for (const auto& member : header->get_object()) {
    const std::string name(member.key());
    if (name == "__metadata__") {
      if (member.value().is_object()) found.metadata = member.value().get_object();
      continue;
    }
    auto stored = parse_entry(member.value(), data, fmt::format("{}: tensor '{}'", where, name));
    if (!stored) return stored.error();
    found.tensors[name] = std::move(*stored);
  }
  return found;
}

Result<StoredTensors> read_stored_safetensors(const std::string& path) {
  const auto file = map_file(path);
  if (!file) return file.error();
  auto found = parse_safetensors(*file, path);
  if (!found) return found.error();
  return std::move(found->tensors);
}

Result<void> serialize_safetensors(const std::map<std::string, UnwrittenTensor>& tensors,
                                   const json::object& metadata,
                                   const std::function<Result<void>(std::string_view piece)>& write) {
  json::object header{{"__metadata__", metadata}};
  // Wide elements first keeps every tensor aligned to its element size.
  std::vector<std::pair<std::string, const UnwrittenTensor*>> ordered;
  ordered.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) ordered.emplace_back(name, &tensor);
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& left, const auto& right) {
    return element_size(left.second->type) > element_size(right.second->type);
  });
  std::size_t end = 0;
  std::vector<std::size_t> sizes;
  sizes.reserve(ordered.size());
  for (const auto& [name, tensor] : ordered) {
    auto bytes = static_cast<std::size_t>(element_size(tensor->type));
    for (const auto length : tensor->shape) bytes *= static_cast<std::size_t>(length);
    header[name] = json::object{{"dtype", name_of(tensor->type)},
                                {"shape", json::array(tensor->shape.begin(), tensor->shape.end())},
                                {"data_offsets", json::array{end, end + bytes}}};
    end += bytes;
    sizes.push_back(bytes);
  }
  auto text = json::serialize(header);
  while (text.size() % 8 != 0) text.push_back(' ');
  const std::uint64_t length = text.size();
  if (auto written = write({reinterpret_cast<const char*>(&length), sizeof length}); !written) return written;
  if (auto written = write(text); !written) return written;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const auto values = ordered[i].second->values();
    HYFREEDP_CHECK(values.bytes.size() == sizes[i], "a tensor's values are not those of its shape");
    if (auto written = write(values.bytes); !written) return written;
  }
  return {};
}

std::string_view name_of(ElementType type) { return kNames[static_cast<std::size_t>(type)]; }

std::int64_t element_size(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kI64:
    case ElementType::kU64:
      return 8;
    case ElementType::kF32:
    case ElementType::kI32:
    case ElementType::kU32:
      return 4;
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kI16:
    case ElementType::kU16:
      return 2;
    case ElementType::kI8:
    case ElementType::kU8:
    case ElementType::kBool:
      break;
  }
  return 1;
}

}  // namespace hyfreedp
