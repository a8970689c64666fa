#include "datasets/formats/number_array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "harness/base/error_list.h"
#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 28;

// Element i, of a type that fits.
template <class T>
T at(const NumberArray& array, std::size_t i) {
  T value;
  std::memcpy(&value, array.values.bytes.data() + i * sizeof value, sizeof value);
  return value;
}

// IEEE 754 binary16.
float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::numeric_limits<float>::infinity();  // or no number
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                   : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (bits & 0x8000) == 0 ? size : -size;
}

// The upper half of a float.
float from_bfloat(std::uint16_t bits) {
  const auto whole = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &whole, sizeof value);
  return value;
}

Result<float (*)(const NumberArray&, std::size_t)> real_of(const std::string& type) {
  if (type == "f2")
    return +[](const NumberArray& a, std::size_t i) { return from_half(at<std::uint16_t>(a, i)); };
  if (type == "b2")
    return +[](const NumberArray& a, std::size_t i) { return from_bfloat(at<std::uint16_t>(a, i)); };
  if (type == "f4") return +[](const NumberArray& a, std::size_t i) { return at<float>(a, i); };
  if (type == "f8")
    return +[](const NumberArray& a, std::size_t i) { return static_cast<float>(at<double>(a, i)); };
  return error(
      fmt::format("its numbers are of type '{}'; features are of 16, 32 or 64 bits, such as f4.", type));
}

template <class T>
double number_at(const NumberArray& array, std::size_t i) {
  return static_cast<double>(at<T>(array, i));
}

Result<double (*)(const NumberArray&, std::size_t)> integer_of(const std::string& type) {
  if (type == "i1") return number_at<std::int8_t>;
  if (type == "i2") return number_at<std::int16_t>;
  if (type == "i4") return number_at<std::int32_t>;
  if (type == "i8") return number_at<std::int64_t>;
  if (type == "u1") return number_at<std::uint8_t>;
  if (type == "u2") return number_at<std::uint16_t>;
  if (type == "u4") return number_at<std::uint32_t>;
  if (type == "u8") return number_at<std::uint64_t>;
  return error(
      fmt::format("its numbers are of type '{}'; classes are integers, i1 to i8 or u1 to u8.", type));
}

Result<std::vector<float>> read_features(const NumberArray& array) {
  const auto real = real_of(array.type);
  if (!real) return error(array.where + ": " + real.error().message);
  const auto columns = static_cast<std::size_t>(array.shape[1]);
  std::vector<float> features(static_cast<std::size_t>(array.shape[0]) * columns);
  ErrorList problems;
  for (std::size_t i = 0; i < features.size(); ++i) {
    features[i] = (*real)(array, i);
    if (!std::isfinite(features[i])) {
      problems.add(error(fmt::format("{}: the number at [{}, {}] is not finite as a float.", array.where,
                                     i / columns, i % columns)));
    }
  }
  if (!problems.empty()) return problems.error();
  return features;
}

}  // namespace

Result<std::int64_t> count_of(const NumberArray& array) {
  std::int64_t count = 1;
  for (const auto size : array.shape) {
    if (size < 1) return error(array.where + ": has no rows or no columns.");
    if (size > kMostValues / count) {
      return error(fmt::format("{}: more than {} numbers.", array.where, kMostValues));
    }
    count *= size;
  }
  return count;
}

Result<std::vector<std::int64_t>> classes_of(const NumberArray& array, const std::vector<double>& labels) {
  const auto integer = integer_of(array.type);
  if (!integer) return error(array.where + ": " + integer.error().message);
  std::vector<std::int64_t> classes(static_cast<std::size_t>(array.shape[0]));
  ErrorList problems;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const double label = (*integer)(array, i);
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found == labels.end()) {
      problems.add(error(fmt::format("{}: the label {} at [{}] is none of those that 'labels' names.",
                                     array.where, label, i)));
    }
    classes[i] = found - labels.begin();
  }
  if (!problems.empty()) return problems.error();
  return classes;
}

Result<NumberTable> table_of(const NumberArray& features, const NumberArray& classes,
                             const std::vector<double>& labels) {
  if (features.shape.size() != 2) {
    return error(fmt::format("{}: has {}; features are rows and columns, [n, p].", features.where,
                             counted(features.shape.size(), "dimension")));
  }
  if (classes.shape.size() != 1) {
    return error(fmt::format("{}: has {}; the classes are a list, [n].", classes.where,
                             counted(classes.shape.size(), "dimension")));
  }
  if (features.shape[0] != classes.shape[0]) {
    return error(fmt::format("{} has {} rows, but {} has {}.", features.where, features.shape[0],
                             classes.where, classes.shape[0]));
  }
  auto values = read_features(features);
  if (!values) return values.error();
  auto rows = classes_of(classes, labels);
  if (!rows) return rows.error();
  return NumberTable{.features = std::move(*values), .labels = std::move(*rows)};
}

}  // namespace hyfreedp::datasets
