#include "harness/models/weights/safetensors.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/base/json.h"

namespace hyfreedp::models {
namespace {

constexpr std::uint64_t kLargestHeader = 100'000'000;

class Mapping {
 public:
  static Result<std::shared_ptr<Mapping>> open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return failed(path);
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) {
      const auto failure = failed(path);
      ::close(descriptor);
      return failure;
    }
    auto mapping = std::shared_ptr<Mapping>(new Mapping);
    mapping->size_ = static_cast<std::size_t>(status.st_size);
    void* data = mapping->size_ == 0 ? nullptr
                                     : ::mmap(nullptr, mapping->size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const auto failure = failed(path);
    ::close(descriptor);
    if (data == MAP_FAILED) return failure;
    mapping->data_ = static_cast<const char*>(data);
    return mapping;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }

  const char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  Mapping() = default;
  static Error failed(const std::string& path) {
    return error(path + ": cannot read the weights (" + std::strerror(errno) + ")");
  }

  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

std::optional<torch::ScalarType> dtype_from(std::string_view name) {
  static const std::map<std::string_view, torch::ScalarType> known = {
      {"F64", torch::kFloat64},   {"F32", torch::kFloat32}, {"F16", torch::kFloat16},
      {"BF16", torch::kBFloat16}, {"I64", torch::kInt64},   {"I32", torch::kInt32},
      {"I16", torch::kInt16},     {"I8", torch::kInt8},     {"U8", torch::kUInt8},
      {"BOOL", torch::kBool}};
  const auto found = known.find(name);
  if (found == known.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint64_t> unsigned_from(const json::value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) return static_cast<std::uint64_t>(value.get_int64());
  return std::nullopt;
}

struct Entry {
  torch::ScalarType dtype = torch::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
};

Result<Entry> parse_entry(const json::value& value, std::uint64_t data_size, const std::string& where) {
  const auto bad = [&](const std::string& what) { return error(where + ": " + what); };
  if (!value.is_object()) return bad("its header entry is not an object");
  const auto& object = value.get_object();
  const auto dtype_name = get_string(object, "dtype", where);
  if (!dtype_name) return dtype_name.error();
  const auto dtype = dtype_from(*dtype_name);
  if (!dtype) return bad("unknown dtype '" + *dtype_name + "'");
  const auto* shape = object.if_contains("shape");
  if (shape == nullptr || !shape->is_array()) return bad("'shape' is not an array");
  Entry entry{.dtype = *dtype, .shape = {}, .begin = 0};
  const auto element = static_cast<std::uint64_t>(torch::elementSize(*dtype));
  std::uint64_t bytes = element;
  for (const auto& item : shape->get_array()) {
    const auto length = unsigned_from(item);
    if (!length || __builtin_mul_overflow(bytes, *length, &bytes) || bytes > INT64_MAX) {
      return bad("'shape' is not a list of lengths");
    }
    entry.shape.push_back(static_cast<std::int64_t>(*length));
  }
  const auto* offsets = object.if_contains("data_offsets");
  if (offsets == nullptr || !offsets->is_array() || offsets->get_array().size() != 2) {
    return bad("'data_offsets' is not a pair");
  }
  const auto begin = unsigned_from(offsets->get_array()[0]);
  const auto end = unsigned_from(offsets->get_array()[1]);
  if (!begin || !end || *begin > *end || *end > data_size) return bad("'data_offsets' lie outside the file");
  if (*end - *begin != bytes) return bad("'data_offsets' do not fit the shape");
  entry.begin = *begin;
  return entry;
}

}  // namespace

Result<std::map<std::string, torch::Tensor>> read_safetensors(const std::string& path) {
  auto mapping = Mapping::open(path);
  if (!mapping) return mapping.error();
  const auto size = (*mapping)->size();
  const char* const bytes = (*mapping)->data();
  std::uint64_t header_size = 0;
  if (size < sizeof header_size) return error(path + ": not a safetensors file (too short)");
  std::memcpy(&header_size, bytes, sizeof header_size);
  if (header_size > kLargestHeader || header_size > size - sizeof header_size) {
    return error(path + ": not a safetensors file (the header does not fit the file)");
  }
  auto header = parse_json({bytes + sizeof header_size, header_size}, path + ": header");
  if (!header) return header.error();
  if (!header->is_object()) return error(path + ": the header is not an object");
  const char* const data = bytes + sizeof header_size + header_size;
  const std::uint64_t data_size = size - sizeof header_size - header_size;

  std::map<std::string, torch::Tensor> tensors;
  for (const auto& member : header->get_object()) {
    const std::string name(member.key());
    if (name == "__metadata__") continue;
    const auto entry = parse_entry(member.value(), data_size, path + ": tensor '" + name + "'");
    if (!entry) return entry.error();
    auto* begin = const_cast<char*>(data + entry->begin);
    if (reinterpret_cast<std::uintptr_t>(begin) % torch::elementSize(entry->dtype) != 0) {
      return error(path + ": tensor '" + name + "' is not aligned to its element size");
    }
    tensors[name] = torch::from_blob(
        begin, entry->shape, [keep = *mapping](void*) {}, entry->dtype);
  }
  return tensors;
}

}  // namespace hyfreedp::models
