#include "harness/models/files/strided_view.h"

#include <cstring>

namespace hyfreedp::models {
namespace {

bool lies_in_c_order(const StridedView& view) {
  std::int64_t expected = 1;
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    if (view.shape[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.shape[d];
  }
  return true;
}

// Copies with the last index fastest; one element at a time, whose size the compiler knows.
template <std::size_t kSize>
void copy_elements(const StridedView& view, std::int64_t count, char* target) {
  const char* source = view.storage.bytes.data() + view.offset * static_cast<std::int64_t>(kSize);
  std::vector<std::int64_t> index(view.shape.size(), 0);
  for (std::int64_t element = 0; element < count; ++element) {
    std::memcpy(target + element * static_cast<std::int64_t>(kSize), source, kSize);
    for (std::size_t d = index.size(); d-- > 0;) {
      const auto step = view.strides[d] * static_cast<std::int64_t>(kSize);
      if (++index[d] < view.shape[d]) {
        source += step;
        break;
      }
      source -= step * (view.shape[d] - 1);
      index[d] = 0;
    }
  }
}

}  // namespace

Result<StoredTensor> stored_tensor(const StridedView& view, std::uint64_t* copies_left,
                                   const std::string& where) {
  const auto bad = [&](const std::string& what) { return error(where + ": " + what); };
  if (view.shape.size() != view.strides.size()) return bad("its shape and its strides differ in length");
  if (view.shape.size() > kMostDimensions) return bad("it has more than 64 dimensions");
  const std::int64_t size = element_size(view.type);
  const auto held = static_cast<std::int64_t>(view.storage.bytes.size()) / size;
  bool is_empty = false;
  std::int64_t bytes = size;
  for (const auto length : view.shape) {
    if (length < 0) return bad("a length in its shape is negative");
    is_empty = is_empty || length == 0;
    // Also of an empty tensor: whoever multiplies its lengths in another order must not overflow.
    if (length > 1 && __builtin_mul_overflow(bytes, length, &bytes)) return bad("its shape is impossible");
  }
  StoredTensor tensor{.type = view.type, .shape = view.shape};
  if (view.offset < 0 || view.offset > held) return bad("it begins outside its storage");
  if (is_empty) return tensor;
  const std::int64_t count = bytes / size;
  if (count > held)
    return bad("its shape has more elements than its storage, which has " + std::to_string(held));
  std::int64_t last = view.offset;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    std::int64_t reach = 0;
    if (view.strides[d] < 0) return bad("a stride is negative");
    if (view.shape[d] == 1) continue;
    if (__builtin_mul_overflow(view.shape[d] - 1, view.strides[d], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return bad("its strides lead outside its storage");
    }
  }
  if (last >= held)
    return bad("it ends outside its storage, which has " + std::to_string(held) + " elements");
  if (lies_in_c_order(view)) {
    tensor.values = {.bytes = view.storage.bytes.substr(static_cast<std::size_t>(view.offset * size),
                                                        static_cast<std::size_t>(bytes)),
                     .owner = view.storage.owner};
    return tensor;
  }
  if (static_cast<std::uint64_t>(bytes) > *copies_left)
    return bad("it overlaps others so often that the copies would be larger than the file allows");
  *copies_left -= static_cast<std::uint64_t>(bytes);
  std::string copy(static_cast<std::size_t>(bytes), '\0');
  StridedView steps = view;
  for (std::size_t d = 0; d < steps.shape.size(); ++d) {
    if (steps.shape[d] == 1) steps.strides[d] = 0;  // unused, and unchecked above
  }
  if (size == 8) copy_elements<8>(steps, count, copy.data());
  if (size == 4) copy_elements<4>(steps, count, copy.data());
  if (size == 2) copy_elements<2>(steps, count, copy.data());
  if (size == 1) copy_elements<1>(steps, count, copy.data());
  tensor.values = owned_bytes(std::move(copy));
  return tensor;
}

}  // namespace hyfreedp::models
