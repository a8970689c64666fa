#include "harness/models/files/state_dict.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "harness/base/text.h"
#include "harness/base/utf8.h"
#include "harness/models/files/pickle.h"
#include "harness/models/files/zip_entries.h"

namespace hyfreedp::models {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";

struct StorageKind {
  std::string_view name;
  ElementType type;
};
constexpr std::array kStorageKinds = {StorageKind{"torch.DoubleStorage", ElementType::kF64},
                                      StorageKind{"torch.FloatStorage", ElementType::kF32},
                                      StorageKind{"torch.HalfStorage", ElementType::kF16},
                                      StorageKind{"torch.BFloat16Storage", ElementType::kBF16},
                                      StorageKind{"torch.LongStorage", ElementType::kI64},
                                      StorageKind{"torch.IntStorage", ElementType::kI32},
                                      StorageKind{"torch.ShortStorage", ElementType::kI16},
                                      StorageKind{"torch.CharStorage", ElementType::kI8},
                                      StorageKind{"torch.ByteStorage", ElementType::kU8},
                                      StorageKind{"torch.BoolStorage", ElementType::kBool}};

constexpr std::array<std::string_view, 3 + kStorageKinds.size()> kGlobals = [] {
  std::array<std::string_view, 3 + kStorageKinds.size()> names = {"collections.OrderedDict", kRebuildTensor,
                                                                  kRebuildParameter};
  for (std::size_t i = 0; i < kStorageKinds.size(); ++i) names[3 + i] = kStorageKinds[i].name;
  return names;
}();

// The first pickle of the stream form, in every protocol: 0x1950a86a20f9469cfc6c.
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::int64_t kStreamProtocol = 1001;

struct TorchStorage {
  ElementType type = ElementType::kF32;
  std::int64_t elements = 0;
  std::string_view bytes = {};
  // The same bytes at an address that suits the type, once a tensor has asked.
  SharedBytes aligned = {};
};
// The storages of a file, by key.
using TorchStorages = std::map<std::string, TorchStorage, std::less<>>;

// Wherever the pickle mentions a storage: ("storage", type, key, device, elements), and in the
// stream form a sixth item, which is None.
Result<TorchStorages> storages_of(const Pickle& pickle, const std::string& where) {
  TorchStorages storages;
  for (const auto& value : pickle.values) {
    if (value.kind != Kind::kStored) continue;
    const auto& id = pickle[value.items[0]].items;
    const auto is = [&](std::size_t i, Kind kind) { return i < id.size() && pickle[id[i]].kind == kind; };
    const bool fits = (id.size() == 5 || (id.size() == 6 && is(5, Kind::kNone))) && is(0, Kind::kText) &&
                      pickle[id[0]].text == "storage" && is(1, Kind::kGlobal) && is(2, Kind::kText) &&
                      is(4, Kind::kInteger);
    if (!fits)
      return error(where + ": a storage is not described as PyTorch does (type, key, device, elements)");
    const std::string key(pickle[id[2]].text);
    const auto bad = [&](const char* what) {
      return error(where + ": storage '" + as_one_line(key) + "' " + what);
    };
    const auto* const kind =
        std::find_if(kStorageKinds.begin(), kStorageKinds.end(),
                     [&](const StorageKind& known) { return known.name == pickle[id[1]].text; });
    if (kind == kStorageKinds.end()) return bad("is of no type of numbers");
    const auto elements = pickle[id[4]].integer;
    if (elements < 0 || elements > INT64_MAX / element_size(kind->type)) return bad("has an impossible size");
    const auto [known, is_new] =
        storages.emplace(key, TorchStorage{.type = kind->type, .elements = elements});
    if (!is_new && (known->second.type != kind->type || known->second.elements != elements)) {
      return bad("is described in two ways");
    }
  }
  return storages;
}

// Builds tensors of an object's pickle and its storages.
struct TorchObject {
  const Pickle& pickle;
  TorchStorages& storages;
  const SharedBytes& file;
  std::uint64_t copies_left = 0;
  // For each value: true if it is a dict that has a tensor among its members. Computed once,
  // because a hostile file may mention one large dict a million times.
  std::vector<bool> with_tensors = {};

  bool is_tensor(std::uint32_t index) const { return pickle[index].kind == Kind::kCall; }
  bool has_tensors(std::uint32_t index) const { return with_tensors[index]; }

  // A tuple of lengths or strides.
  std::optional<std::vector<std::int64_t>> integers(std::uint32_t index) const {
    if (pickle[index].kind != Kind::kTuple || pickle[index].items.size() > kMostDimensions)
      return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const auto item : pickle[index].items) {
      if (pickle[item].kind != Kind::kInteger) return std::nullopt;
      numbers.push_back(pickle[item].integer);
    }
    return numbers;
  }

  SharedBytes aligned(TorchStorage& storage) const {
    if (storage.aligned.owner == nullptr) {
      const auto address = reinterpret_cast<std::uintptr_t>(storage.bytes.data());
      const bool fits = address % static_cast<std::uintptr_t>(element_size(storage.type)) == 0;
      storage.aligned = fits ? SharedBytes{.bytes = storage.bytes, .owner = file.owner}
                             : owned_bytes(std::string(storage.bytes));
    }
    return storage.aligned;
  }

  Result<StoredTensor> tensor(std::uint32_t index, const std::string& where) {
    // _rebuild_parameter(tensor, requires_grad, hooks)
    if (pickle[pickle[index].items[0]].text == kRebuildParameter) {
      const auto& arguments = pickle[pickle[index].items[1]].items;
      if (arguments.empty() || !is_tensor(arguments[0]))
        return error(where + ": the parameter holds no tensor");
      index = arguments[0];
    }
    // _rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks[, metadata])
    const auto& callee = pickle[pickle[index].items[0]].text;
    if (callee != kRebuildTensor)
      return error(where + ": it is made by " + std::string(callee) + ", not as a tensor");
    const auto& arguments = pickle[pickle[index].items[1]].items;
    const bool fits = (arguments.size() == 6 || arguments.size() == 7) &&
                      pickle[arguments[0]].kind == Kind::kStored &&
                      pickle[arguments[1]].kind == Kind::kInteger;
    const auto shape = fits ? integers(arguments[2]) : std::nullopt;
    const auto strides = fits ? integers(arguments[3]) : std::nullopt;
    if (!shape || !strides) {
      return error(where + ": it is not described as PyTorch does (storage, offset, shape, strides)");
    }
    if (arguments.size() == 7) {
      const auto& more = pickle[arguments[6]];
      if (more.kind != Kind::kNone && !(more.kind == Kind::kDict && more.items.empty())) {
        return error(where + ": it is a negated or conjugated view. Save a copy of it (tensor.clone())");
      }
    }
    const auto& id = pickle[pickle[arguments[0]].items[0]].items;
    auto& storage = storages.find(pickle[id[2]].text)->second;
    return stored_tensor({.type = storage.type,
                          .storage = aligned(storage),
                          .offset = pickle[arguments[1]].integer,
                          .shape = *shape,
                          .strides = *strides},
                         &copies_left, where);
  }

  Result<StoredTensors> tensors_of(std::uint32_t dict, const std::string& where) {
    StoredTensors tensors;
    const auto& items = pickle[dict].items;
    for (std::size_t i = 0; i < items.size(); i += 2) {
      const auto& key = pickle[items[i]];
      const auto name = key.kind == Kind::kText ? std::string(key.text) : std::string(kind_name(key.kind));
      const auto here = where + ": tensor '" + as_one_line(name) + "'";
      if (has_tensors(items[i + 1])) {
        return error(
            where + ": member '" + as_one_line(name) +
            "' is a dict of tensors beside or below other tensors. Save the network's state dict alone");
      }
      if (!is_tensor(items[i + 1])) continue;
      if (key.kind != Kind::kText || first_byte_not_utf8(key.text))
        return error(here + ": its name is not text");
      auto read = tensor(items[i + 1], here);
      if (!read) return read.error();
      if (!tensors.emplace(name, std::move(*read)).second) return error(here + " is there twice");
    }
    return tensors;
  }

  Result<StoredTensors> state_dict(const std::string& where) {
    const auto& root = pickle[pickle.root];
    if (root.kind != Kind::kDict) {
      return error(where + ": it holds " + kind_name(root.kind) +
                   ", where a dict of tensors is expected. Save the network with "
                   "torch.save(network.state_dict(), FILE)");
    }
    if (has_tensors(pickle.root)) return tensors_of(pickle.root, where);
    std::vector<std::string> names;
    std::uint32_t wrapped = 0;
    for (std::size_t i = 0; i < root.items.size(); i += 2) {
      if (!has_tensors(root.items[i + 1])) continue;
      names.push_back("'" + as_one_line(pickle[root.items[i]].text) + "'");
      wrapped = root.items[i + 1];
    }
    if (names.empty()) return error(where + ": it is a dict without tensors, also one level deeper");
    if (names.size() > 1) {
      if (names.size() > 4) names.resize(4);
      return error(where + ": several of its members are dicts of tensors (" + join(names, ", ") +
                   "). Save the one that is wanted in a file of its own");
    }
    return tensors_of(wrapped, where);
  }
};

Result<StoredTensors> read_object(const Pickle& pickle, TorchStorages& storages, const SharedBytes& file,
                                  const std::string& where) {
  TorchObject object{
      .pickle = pickle, .storages = storages, .file = file, .copies_left = 2 * file.bytes.size()};
  for (const auto& value : pickle.values) {
    bool has = false;
    for (std::size_t i = 1; value.kind == Kind::kDict && !has && i < value.items.size(); i += 2) {
      has = object.is_tensor(value.items[i]);
    }
    object.with_tensors.push_back(has);
  }
  return object.state_dict(where);
}

Result<StoredTensors> parse_zip_form(const SharedBytes& file, const std::string& where) {
  const auto entries = zip_entries(file.bytes, where);
  if (!entries) return entries.error();
  constexpr std::string_view kObject = "/data.pkl";
  std::string prefix;
  std::size_t objects = 0;
  for (const auto& [name, entry] : *entries) {
    // The prefix is one folder's name.
    if (name.size() < kObject.size() || name.find('/') != name.size() - kObject.size() ||
        !name.ends_with(kObject)) {
      continue;
    }
    prefix = name.substr(0, name.size() - kObject.size());
    ++objects;
  }
  if (objects != 1) {
    return error(where + ": the zip archive is not PyTorch's: it has " + std::to_string(objects) +
                 " entries PREFIX/data.pkl, where one is expected");
  }
  // nullptr: absent.
  const auto find = [&](const std::string& name) -> const std::string_view* {
    const auto found = entries->find(prefix + "/" + name);
    return found == entries->end() ? nullptr : &found->second;
  };
  const auto* const order = find("byteorder");
  if (order != nullptr && *order != "little") {
    return error(where + ": its byte order is '" + as_one_line(order->substr(0, 20)) + "', 'little' is read");
  }
  const auto pickle = read_pickle(*find("data.pkl"), kGlobals, where + ": data.pkl");
  if (!pickle) return pickle.error();
  auto storages = storages_of(*pickle, where);
  if (!storages) return storages.error();
  for (auto& item : *storages) {
    const auto& key = item.first;
    auto& storage = item.second;
    const auto* const entry = find("data/" + key);
    const auto bad = [&](const std::string& what) {
      return error(fmt::format("{}: storage '{}' {}", where, as_one_line(key), what));
    };
    if (entry == nullptr) return bad("is not in the zip archive");
    const auto expected = static_cast<std::uint64_t>(storage.elements * element_size(storage.type));
    if (entry->size() != expected) {
      return bad("has " + std::to_string(entry->size()) + " bytes, " + std::to_string(expected) +
                 " are expected");
    }
    storage.bytes = *entry;
  }
  return read_object(*pickle, *storages, file, where);
}

// True if the dict about the system says that its numbers are big endian.
bool says_big_endian(const Pickle& system) {
  const auto& items = system[system.root].items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (system[items[i]].text == "little_endian" && system[items[i + 1]].integer == 0) return true;
  }
  return false;
}

Result<StoredTensors> parse_stream_form(const SharedBytes& file, const std::string& where) {
  std::size_t at = 0;
  const auto next = [&](const char* what) {
    auto pickle = read_pickle(file.bytes.substr(at), kGlobals, where + ": " + what);
    if (pickle) at += pickle->size;
    return pickle;
  };
  const auto magic = next("magic number");
  if (!magic) return magic.error();
  const auto protocol = next("protocol");
  if (!protocol) return protocol.error();
  const auto& version = (*protocol)[protocol->root];
  if ((*magic)[magic->root].text != kMagic || version.kind != Kind::kInteger ||
      version.integer != kStreamProtocol) {
    return error(where + ": it is a pickle, but not one of torch.save");
  }
  const auto system = next("system");
  if (!system) return system.error();
  const auto& about = (*system)[system->root];
  if (about.kind != Kind::kDict) {
    return error(where + ": its third pickle holds " + kind_name(about.kind) +
                 ", where a dict about the system that wrote it is expected. Fetch the file again");
  }
  if (says_big_endian(*system)) {
    return error(where + ": it was written by a big-endian machine, little-endian files are read");
  }
  const auto object = next("object");
  if (!object) return object.error();
  auto storages = storages_of(*object, where);
  if (!storages) return storages.error();
  const auto keys = next("list of storages");
  if (!keys) return keys.error();
  const auto& list = (*keys)[keys->root];
  if (list.kind != Kind::kList) return error(where + ": the list of storages is missing");
  if (list.items.size() != storages->size()) {
    return error(where + ": it lists " + counted(static_cast<std::int64_t>(list.items.size()), "storage") +
                 ", its tensors have " + std::to_string(storages->size()));
  }
  for (const auto item : list.items) {
    const auto& key = (*keys)[item];
    const auto found = storages->find(key.text);
    const auto bad = [&](const std::string& what) {
      return error(fmt::format("{}: storage '{}' {}", where, as_one_line(key.text), what));
    };
    if (key.kind != Kind::kText || found == storages->end()) return bad("is listed, and no tensor has it");
    auto& storage = found->second;
    if (storage.bytes.data() != nullptr) return bad("is listed twice");
    const auto rest = file.bytes.substr(at);
    std::int64_t elements = 0;
    if (rest.size() < sizeof elements) return bad("is cut off. Fetch the file again");
    std::memcpy(&elements, rest.data(), sizeof elements);
    if (elements != storage.elements) {
      return bad("has " + std::to_string(elements) + " elements, " + std::to_string(storage.elements) +
                 " are expected");
    }
    const auto bytes = static_cast<std::uint64_t>(elements * element_size(storage.type));
    if (bytes > rest.size() - sizeof elements) return bad("is cut off. Fetch the file again");
    storage.bytes = rest.substr(sizeof elements, bytes);
    at += sizeof elements + bytes;
  }
  if (at != file.bytes.size()) return error(where + ": something follows the last storage");
  return read_object(*object, *storages, file, where);
}

}  // namespace

Result<StoredTensors> read_state_dict(const std::string& path) {
  const auto file = map_file(path);
  if (!file) return file.error();
  return parse_state_dict(*file, path);
}

Result<StoredTensors> parse_state_dict(const SharedBytes& file, const std::string& where) {
  if (file.bytes.starts_with("PK\x03\x04")) return parse_zip_form(file, where);
  if (file.bytes.starts_with('\x80')) return parse_stream_form(file, where);
  return error(where +
               ": it is not a file of torch.save, neither a zip archive nor a pickle of protocol 2 to 4");
}

}  // namespace hyfreedp::models
