#include "datasets/formats/npy.h"

#include <array>
#include <fmt/format.h>
#include <numeric>
#include <regex>
#include <set>

#include "datasets/formats/named_files.h"
#include "datasets/formats/number_array.h"
#include "harness/base/mapped_file.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 1024;  // of two dimensions it has some 120 bytes

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

// Reads the dictionary that numpy.save writes.
Result<void> read_header(const std::string& header, NumberArray& array) {
  static const std::regex kHeader(
      R"(\{'descr': '([<>|=])([a-zA-Z]\d{0,3})', 'fortran_order': (True|False), )"
      R"('shape': \((\d{1,18}), ?(?:(\d{1,18})(?:, (\d{1,18}), (\d{1,18}))?,?)?\), ?\} *\n)");
  std::smatch parts;
  if (!std::regex_match(header, parts, kHeader)) {
    return error("its header describes no array of numbers of one, two or four dimensions: " +
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
  for (const auto& part : {parts[4], parts[5], parts[6], parts[7]}) {
    if (part.matched) array.shape.push_back(std::stoll(part));
  }
  return {};
}

// `path` names the file for errors.
Result<NumberArray> array_of(const std::string& path, const SharedBytes& file) {
  const auto header = header_of(file.bytes);
  if (!header) return error(path + ": " + header.error().message);
  NumberArray array{.where = path};
  if (auto read = read_header(header->first, array); !read) return error(path + ": " + read.error().message);
  const auto count = count_of(array);
  if (!count) return count.error();
  const auto size = static_cast<std::size_t>(*count) * static_cast<std::size_t>(array.type.back() - '0');
  const auto there = file.bytes.size() - header->second;
  if (there != size) {
    return error(fmt::format("{}: has {} bytes of numbers, but its header describes {}.", path, there, size));
  }
  array.values = {.bytes = file.bytes.substr(header->second), .owner = file.owner};
  return array;
}

Result<NumberArray> read_array(const std::string& path) {
  const auto file = map_file(path);
  return file ? array_of(path, *file) : Result<NumberArray>(file.error());
}

// Rows of one image, with its colours side by side, as planes of one colour each.
void add_planes(std::string_view image, std::vector<std::uint8_t>& planes) {
  constexpr std::size_t kColours = 3;
  for (std::size_t colour = 0; colour < kColours; ++colour) {
    for (std::size_t at = colour; at < image.size(); at += kColours) {
      planes.push_back(static_cast<std::uint8_t>(image[at]));
    }
  }
}

}  // namespace

Result<NumberTable> read_npy(const std::string& features, const std::string& classes,
                             const std::vector<double>& labels) {
  const auto numbers = read_array(features), kinds = read_array(classes);
  for (const auto* array : {&numbers, &kinds}) {
    if (!*array) return array->error();
  }
  return table_of(*numbers, *kinds, labels);
}

Result<ImageSet> read_npy_images(const std::string& path, const NpyImageFiles& files,
                                 const ArchiveLimits& limits) {
  std::array<NumberArray, 2> arrays;
  std::array<std::string, 2> places;
  const auto take = [&](std::size_t index, const std::string& where, std::string_view bytes) -> Result<void> {
    const auto owner = std::make_shared<const std::string>(bytes);
    auto array = array_of(where, {.bytes = *owner, .owner = owner});
    if (!array) return array.error();
    arrays[index] = std::move(*array);
    places[index] = where;
    return {};
  };
  if (auto visited = visit_named_files(path, {files.pixels, files.labels}, take, limits); !visited)
    return visited.error();
  const auto& [pixels, kinds] = arrays;
  if (pixels.shape.size() != 4 || pixels.shape[3] != 3 || pixels.type != "u1") {
    return error(places[0] + ": is no array of bytes [n, h, w, 3], as images are.");
  }
  const auto n = pixels.shape[0], first = files.first, count = files.count == 0 ? n - first : files.count;
  if (kinds.shape.size() != 1 || kinds.shape[0] != n) {
    return error(
        fmt::format("{}: is no list of as many classes as {} has images, {}.", places[1], places[0], n));
  }
  if (first < 0 || count < 1 || first > n - count) {
    return error(
        fmt::format("{}: has {} images, and the {} from {} on are asked for.", places[0], n, count, first));
  }
  std::vector<double> labels(static_cast<std::size_t>(files.classes));
  std::iota(labels.begin(), labels.end(), 0);
  const auto all = classes_of(kinds, labels);
  if (!all) return all.error();
  const auto size = static_cast<std::size_t>(pixels.shape[1] * pixels.shape[2] * 3);
  ImageSet images{.count = count,
                  .channels = 3,
                  .height = pixels.shape[1],
                  .width = pixels.shape[2],
                  .pixels = {},
                  .labels = {all->begin() + first, all->begin() + first + count}};
  images.pixels.reserve(static_cast<std::size_t>(count) * size);
  for (auto i = first; i < first + count; ++i) {
    add_planes(pixels.values.bytes.substr(static_cast<std::size_t>(i) * size, size), images.pixels);
  }
  return images;
}

}  // namespace hyfreedp::datasets
