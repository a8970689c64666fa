#include "datasets/formats/safetensors_table.h"

#include <fmt/format.h>

#include "datasets/formats/number_array.h"
#include "harness/base/safetensors_file.h"

namespace hyfreedp::datasets {
namespace {

// The type's name in NumberArray.
std::string type_of(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return "f8";
    case ElementType::kF32:
      return "f4";
    case ElementType::kF16:
      return "f2";
    case ElementType::kBF16:
      return "b2";
    case ElementType::kI64:
      return "i8";
    case ElementType::kI32:
      return "i4";
    case ElementType::kI16:
      return "i2";
    case ElementType::kI8:
      return "i1";
    case ElementType::kU64:
      return "u8";
    case ElementType::kU32:
      return "u4";
    case ElementType::kU16:
      return "u2";
    case ElementType::kU8:
      return "u1";
    case ElementType::kBool:
      break;
  }
  return std::string(name_of(type));
}

Result<NumberArray> array_of(const StoredTensors& tensors, const std::string& path, const std::string& name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    return error(
        fmt::format("{}: has no tensor '{}'; it needs 'features' [n, p] and 'labels' [n].", path, name));
  }
  const auto& tensor = found->second;
  NumberArray array{.where = fmt::format("{}: tensor '{}'", path, name),
                    .type = type_of(tensor.type),
                    .shape = tensor.shape,
                    .values = tensor.values};
  if (const auto count = count_of(array); !count) return count.error();
  return array;
}

}  // namespace

Result<NumberTable> read_safetensors_table(const std::string& path, const std::vector<double>& labels) {
  const auto tensors = read_stored_safetensors(path);
  if (!tensors) return tensors.error();
  const auto features = array_of(*tensors, path, "features"), classes = array_of(*tensors, path, "labels");
  for (const auto* array : {&features, &classes}) {
    if (!*array) return array->error();
  }
  return table_of(*features, *classes, labels);
}

}  // namespace hyfreedp::datasets
