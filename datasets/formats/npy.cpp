#include "datasets/formats/npy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <regex>
#include <set>

#include "harness/base/mapped_file.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 1024;  // of two dimensions it has some 120 bytes
constexpr std::int64_t kMostValues = std::int64_t{1} << 28;

struct Array {
  std::string type;  // f4, i8 and the like: kind and bytes
  std::vector<std::int64_t> shape;
  SharedBytes values;

  // Element i, of a type that fits.
  template <class T>
  T at(std::size_t i) const {
    T value;
    std::memcpy(&value, values.bytes.data() + i * sizeof value, sizeof value);
    return value;
  }
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (auto at = bytes.rbegin(); at != bytes.rend(); ++at) {
    value = value << 8 | static_cast<unsigned char>(*at);
  }
  return value;
}

// The header's text, and where the values begin.
Result<std::pair<std::string, std::size_t>> header_of(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 12) return error("is no .npy file.");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) return error(fmt::format("has version {} of .npy, not 1 to 3.", version));
  const std::size_t width = version == 1 ? 2 : 4, begin = 8 + width;
  const auto length = little_endian(bytes.substr(8, width));
  if (length > kLongestHeader || length > bytes.size() - begin)
    return error("its header is truncated or too long.");
  return std::pair(std::string(bytes.substr(begin, length)), begin + length);
}

// Of the dictionary that numpy.save writes.
Result<void> read_header(const std::string& header, Array& array) {
  static const std::regex kHeader(R"(\{'descr': '([<>|=])([a-zA-Z]\d{0,3})', 'fortran_order': (True|False), )"
                                  R"('shape': \((\d{1,18}), ?(?:(\d{1,18}),?)?\), ?\} *\n)");
  std::smatch parts;
  if (!std::regex_match(header, parts, kHeader)) {
    return error("its header describes no array of numbers of one or two dimensions: " +
                 as_one_line(header.substr(0, 120)));
  }
  array.type = parts[2];
  static const std::set<std::string> kTypes = {"<f2", "<f4", "<f8", "|i1", "<i2", "<i4",
                                               "<i8", "|u1", "<u2", "<u4", "<u8"};
  if (const auto whole = parts[1].str() + array.type; !kTypes.contains(whole)) {
    return error(
        fmt::format("its type is '{}', which is not read; '<f4' and '<i8' are, for example.", whole));
  }
  if (parts[3] == "True") return error("is in Fortran's order; save numpy.ascontiguousarray of it.");
  for (const auto& part : {parts[4], parts[5]}) {
    if (part.matched) array.shape.push_back(std::stoll(part));
  }
  return {};
}

Result<Array> read_array(const std::string& path) {
  auto file = map_file(path);
  if (!file) return file.error();
  const auto header = header_of(file->bytes);
  if (!header) return error(path + ": " + header.error().message);
  Array array;
  if (auto read = read_header(header->first, array); !read) return error(path + ": " + read.error().message);
  std::int64_t count = 1;
  for (const auto size : array.shape) {
    if (size < 1) return error(path + ": has no rows or no columns.");
    if (size > kMostValues / count) return error(fmt::format("{}: more than {} numbers.", path, kMostValues));
    count *= size;
  }
  const auto size = static_cast<std::size_t>(count) * static_cast<std::size_t>(array.type.back() - '0');
  const auto there = file->bytes.size() - header->second;
  if (there != size) {
    return error(fmt::format("{}: has {} bytes of numbers, but its header describes {}.", path, there, size));
  }
  array.values = {.bytes = file->bytes.substr(header->second), .owner = file->owner};
  return array;
}

// IEEE 754 binary16.
float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::numeric_limits<float>::infinity();  // or no number
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                   : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (bits & 0x8000) == 0 ? size : -size;
}

Result<float (*)(const Array&, std::size_t)> real_of(const std::string& type) {
  if (type == "f2") return +[](const Array& a, std::size_t i) { return from_half(a.at<std::uint16_t>(i)); };
  if (type == "f4") return +[](const Array& a, std::size_t i) { return a.at<float>(i); };
  if (type == "f8") return +[](const Array& a, std::size_t i) { return static_cast<float>(a.at<double>(i)); };
  return error(fmt::format("its numbers are of type '{}'; features are f2, f4 or f8.", type));
}

template <class T>
double number_at(const Array& array, std::size_t i) {
  return static_cast<double>(array.at<T>(i));
}

Result<double (*)(const Array&, std::size_t)> integer_of(const std::string& type) {
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

Result<std::vector<float>> read_features(const std::string& path, const Array& array) {
  const auto real = real_of(array.type);
  if (!real) return error(path + ": " + real.error().message);
  const auto columns = static_cast<std::size_t>(array.shape[1]);
  std::vector<float> features(static_cast<std::size_t>(array.shape[0]) * columns);
  for (std::size_t i = 0; i < features.size(); ++i) {
    features[i] = (*real)(array, i);
    if (!std::isfinite(features[i])) {
      return error(fmt::format("{}: the number at [{}, {}] is not finite as a float.", path, i / columns,
                               i % columns));
    }
  }
  return features;
}

Result<std::vector<std::int64_t>> read_classes(const std::string& path, const Array& array,
                                               const std::vector<double>& labels) {
  const auto integer = integer_of(array.type);
  if (!integer) return error(path + ": " + integer.error().message);
  std::vector<std::int64_t> classes(static_cast<std::size_t>(array.shape[0]));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const double label = (*integer)(array, i);
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found == labels.end()) {
      return error(
          fmt::format("{}: the label {} at [{}] is none of those that 'labels' names.", path, label, i));
    }
    classes[i] = found - labels.begin();
  }
  return classes;
}

}  // namespace

Result<NumberTable> read_npy(const std::string& features, const std::string& classes,
                             const std::vector<double>& labels) {
  const auto numbers = read_array(features), kinds = read_array(classes);
  for (const auto* array : {&numbers, &kinds}) {
    if (!*array) return array->error();
  }
  if (numbers->shape.size() != 2)
    return error(features + ": has one dimension; features are rows and columns, [n, p].");
  if (kinds->shape.size() != 1) return error(classes + ": has two dimensions; the classes are a list, [n].");
  if (numbers->shape[0] != kinds->shape[0]) {
    return error(
        fmt::format("{} has {} rows, but {} has {}.", features, numbers->shape[0], classes, kinds->shape[0]));
  }
  auto values = read_features(features, *numbers);
  if (!values) return values.error();
  auto rows = read_classes(classes, *kinds, labels);
  if (!rows) return rows.error();
  return NumberTable{.features = std::move(*values), .labels = std::move(*rows)};
}

}  // namespace hyfreedp::datasets
