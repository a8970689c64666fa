#include "datasets/image/image_folder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utf8proc.h>

#include "datasets/image/decode.h"
#include "harness/base/text_encoding.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::string_view kLayouts =
    "Expected train/CLASS/FILE and test/CLASS/FILE (val/CLASS/FILE beside them), or CLASS/FILE; see "
    "datasets/image/README.md.";

constexpr std::uint64_t kMostTableBytes = std::uint64_t{1} << 26;  // 67 MB

using Parts = std::vector<std::string_view>;

Parts parts_of(std::string_view text, char separator) {
  Parts parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// ".jpg" of "a/b.JPG"; "" without one.
std::string ending_of(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || name.find('/', dot) != std::string_view::npos) return "";
  std::string ending(name.substr(dot));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}
std::string without_ending(std::string_view name) { return std::string(name.substr(0, name.rfind('.'))); }

bool is_hidden(std::string_view name) {
  return name.starts_with('.') || name.find("/.") != std::string_view::npos;
}

enum class Kind { image, other_image, no_image };

Kind kind_of(std::string_view name) {
  static constexpr std::array<std::string_view, 5> read = {".jpg", ".jpeg", ".png", ".ppm", ".pgm"};
  static constexpr std::array<std::string_view, 10> others = {".webp", ".gif",  ".bmp", ".tif", ".tiff",
                                                              ".avif", ".heic", ".jp2", ".pbm", ".jfif"};
  if (is_hidden(name)) return Kind::no_image;
  const auto ending = ending_of(name);
  if (std::find(read.begin(), read.end(), ending) != read.end()) return Kind::image;
  return std::find(others.begin(), others.end(), ending) != others.end() ? Kind::other_image : Kind::no_image;
}

// The folder around all images that is not part of the layout, with its slash; "" without one.
std::string wrapping_folder(const std::vector<std::string>& images) {
  auto top = images.front().substr(0, images.front().find('/') + 1);
  if (top.empty() || top == "train/" || top == "test/") return "";
  for (const auto& name : images) {
    if (!name.starts_with(top) || name.find('/', top.size()) == std::string::npos) return "";
  }
  return top;
}

// One image before its class has a number.
struct Found {
  ImageSplit split;
  std::string folder;  // the class's; "" where a table has it
  std::string name;
};

// The content of a table: an image's name without its ending -> the class as written there.
using Classes = std::map<std::string, std::string, std::less<>>;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

// Adds a table's rows. A table without the two columns is not about classes, and adds none.
Result<void> add_table(const ClassTable& table, Classes& classes) {
  std::optional<std::size_t> file_column;
  std::optional<std::size_t> class_column;
  char separator = ',';
  std::size_t line_number = 0;
  const auto begin = begin_of_text(table.content, table.name);
  if (!begin) return begin.error();
  for (const auto line : parts_of(std::string_view(table.content).substr(*begin), '\n')) {
    const auto text = trimmed(line);
    if (++line_number == 1) {
      if (text.find(';') != std::string_view::npos) separator = ';';
      const auto columns = parts_of(text, separator);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i] == "Filename") file_column = i;
        if (columns[i] == "ClassId") class_column = i;
      }
      if (!file_column || !class_column) return {};
      continue;
    }
    if (text.empty()) continue;
    const auto fields = parts_of(text, separator);
    if (fields.size() <= std::max(*file_column, *class_column)) {
      return error(fmt::format("{}:{}: has {} fields; the columns Filename and ClassId are missing.",
                               table.name, line_number, fields.size()));
    }
    if (!classes.emplace(without_ending(fields[*file_column]), fields[*class_column]).second) {
      return error(
          fmt::format("{}:{}: has {} a second time.", table.name, line_number, fields[*file_column]));
    }
  }
  return {};
}

// Letters beyond ASCII as their bytes, since the two forms look alike.
std::string with_bytes(std::string_view name) {
  std::string shown;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return shown;
}

std::optional<std::int64_t> as_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The class of a folder of this name, in any form.
std::optional<std::int64_t> label_of_folder(const std::vector<std::string>& classes, std::string_view name) {
  const auto exact = std::lower_bound(classes.begin(), classes.end(), name);
  if (exact != classes.end() && *exact == name) return exact - classes.begin();
  const auto wanted = composed(name);
  const auto same = std::ranges::find(classes, wanted, composed);
  return same == classes.end() ? std::nullopt : std::optional(same - classes.begin());
}

// The class whose folder has this name, or else is this number.
std::optional<std::int64_t> label_of(const std::vector<std::string>& classes, std::string_view text) {
  if (const auto folder = label_of_folder(classes, text)) return folder;
  const auto wanted = as_number(text);
  if (!wanted) return std::nullopt;
  const auto is_it = [&wanted](const std::string& name) { return as_number(name) == wanted; };
  const auto same = std::find_if(classes.begin(), classes.end(), is_it);
  // None, or one of several (16 and 016).
  if (same == classes.end() || std::find_if(same + 1, classes.end(), is_it) != classes.end())
    return std::nullopt;
  return same - classes.begin();
}

// The part of a layout with parts that a folder of this name is.
std::optional<ImageSplit> split_of(std::string_view folder) {
  if (folder == "train") return ImageSplit::train;
  if (folder == "test") return ImageSplit::test;
  if (folder == "val" || folder == "valid" || folder == "validation") return ImageSplit::validation;
  return std::nullopt;
}

// Returns the image's part and class by its name within the layout. With `split` its first folder
// is a part.
Result<Found> place(const std::string& name, std::string_view inner, bool split) {
  const auto parts = parts_of(inner, '/');
  if (!split) {
    if (parts.size() != 2) return error(fmt::format("{} is not in a class's folder. {}", name, kLayouts));
    return Found{ImageSplit::undivided, std::string(parts[0]), name};
  }
  const auto which = split_of(parts[0]);
  if (which && parts.size() == 3) return Found{*which, std::string(parts[1]), name};
  if (parts.size() == 2 && which == ImageSplit::test) return Found{*which, "", name};
  return error(fmt::format("{} is not in a class's folder. {}", name, kLayouts));
}

// "train" of a folder Train, which is meant as that part; "" of others.
std::string part_meant(std::string_view folder) {
  auto lower = std::string(folder);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower != folder && split_of(lower) ? lower : "";
}

// Returns the part and class of each image. One that is in no place is a problem.
std::vector<Found> place_all(const std::string& path, const std::vector<std::string>& images,
                             const std::string& wrapping, ErrorList& problems) {
  const auto inner = [&wrapping](const std::string& name) {
    return std::string_view(name).substr(wrapping.size());
  };
  // A class may be called train; then nothing lies three deep.
  const bool split = std::any_of(images.begin(), images.end(), [&](const std::string& name) {
    const auto rest = inner(name);
    return (rest.starts_with("train/") || rest.starts_with("test/")) && parts_of(rest, '/').size() >= 3;
  });
  std::set<std::string> misnamed;
  for (const auto& name : images) {
    const auto parts = parts_of(inner(name), '/');
    const auto part = part_meant(parts[0]);
    if (parts.size() < 3 || part.empty()) continue;
    misnamed.insert(fmt::format("{}/ is to be called {}/", parts[0], part));
  }
  if (!misnamed.empty()) {
    problems.add(error(fmt::format("{}: the names of the parts are in lower case: {}. {}", path,
                                   fmt::join(misnamed, ", "), kLayouts)));
    return {};
  }
  std::vector<Found> found;
  std::map<std::string_view, std::vector<std::string_view>> beside;  // by the first folder
  for (const auto& name : images) {
    const auto first = inner(name).substr(0, inner(name).find('/'));
    if (split && first.size() < inner(name).size() && !split_of(first)) {
      beside[first].push_back(name);
      continue;
    }
    auto one = place(name, inner(name), split);
    if (one) {
      found.push_back(std::move(*one));
    } else {
      problems.add(in_context(path, one.error()));
    }
  }
  for (const auto& [folder, names] : beside) {
    const auto count = names.size() == 1 ? fmt::format("an image, {}", names[0])
                                         : fmt::format("{} images, the first {}", names.size(), names[0]);
    problems.add(error(fmt::format(
        "{}: {}/ has {}, beside train/ or test/. Move them to train/ (then `validation: N` and `test: N` set "
        "how many images a part has), or take them out. {}",
        path, folder, count, kLayouts)));
  }
  return found;
}

// The folders of train, or of all where nothing is divided or all is test. `joined`: of those that
// are one class.
Result<std::vector<std::string>> classes_of(const std::vector<Found>& found,
                                            std::vector<std::string>& joined) {
  const bool test_alone =
      std::ranges::all_of(found, [](const Found& one) { return one.split == ImageSplit::test; });
  std::set<std::string> training, all;
  for (const auto& [split, folder, name] : found) {
    if (folder.empty()) continue;
    all.insert(folder);
    const bool trains = split == ImageSplit::train || split == ImageSplit::undivided;
    if (test_alone || trains) training.insert(folder);
  }
  std::vector<std::string> classes;
  std::map<std::string, std::string> forms;  // the first folder of each name
  for (const auto* folders : {&training, &all}) {
    for (const auto& folder : *folders) {
      const auto [first, is_new] = forms.emplace(composed(folder), folder);
      if (is_new && folders == &training) classes.push_back(folder);
      if (is_new || first->second == folder || (folders == &all && training.contains(folder))) continue;
      joined.push_back(fmt::format(
          "the folders {} and {} are one class: their names are the same letters in two Unicode forms",
          with_bytes(first->second), with_bytes(folder)));
    }
  }
  if (classes == std::vector<std::string>{"test", "train"} && found.front().split == ImageSplit::undivided) {
    return error(fmt::format("has images directly in train/ and test/, without their classes. {}", kLayouts));
  }
  if (classes.size() >= 2) return classes;
  return error(fmt::format("has images of {}; at least two classes are needed to train. {}",
                           classes.empty() ? "no class to train on" : "one class, " + classes.front(),
                           kLayouts));
}

Result<std::int64_t> label_from_table(const Found& image, const Classes& table,
                                      const std::vector<std::string>& classes) {
  const auto file = std::string_view(image.name).substr(image.name.rfind('/') + 1);
  const auto row = table.find(without_ending(file));
  if (row == table.end()) {
    return error(
        fmt::format("{} is in no class's folder, and no table of test/ (a .csv with the columns Filename "
                    "and ClassId) has it. {}",
                    image.name, kLayouts));
  }
  const auto label = label_of(classes, row->second);
  if (!label) return error(fmt::format("{} has the class {}, which train has not.", image.name, row->second));
  return *label;
}

// The label of an image, by its folder or a table.
Result<std::int64_t> label_of_image(const Found& image, const Classes& table,
                                    const std::vector<std::string>& classes) {
  if (image.folder.empty()) return label_from_table(image, table, classes);
  const auto label = label_of_folder(classes, image.folder);
  if (!label) {
    return error(fmt::format("{} is of the class {}, which train has not.", image.name, image.folder));
  }
  return *label;
}

// Makes the list. Errors of single files are added to `problems`.
Result<ImageFolder> listed(const std::string& path, std::vector<std::string> names,
                           const std::vector<ClassTable>& tables, FileHeads heads, ErrorList& problems) {
  const auto fail = [&path](const std::string& what) { return error(path + ": " + what); };
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    return fail(fmt::format("{} is in it twice. Pack it again.", *twice));
  }
  ImageFolder folder;
  folder.heads = std::move(heads);
  std::vector<std::string> images;
  for (auto& name : names) {
    const auto kind = folder.heads.images.contains(name) ? Kind::image : kind_of(name);
    if (kind == Kind::other_image) {
      problems.add(
          fail(fmt::format("{} is not read; JPEG, PNG and PPM are. Convert it, or take it out.", name)));
      continue;
    }
    (kind == Kind::image ? images : folder.left_out).push_back(std::move(name));
  }
  if (images.empty()) return fail(fmt::format("has no image (JPEG, PNG or PPM). {}", kLayouts));
  folder.wrapping = wrapping_folder(images);
  const auto found = place_all(path, images, folder.wrapping, problems);
  if (found.empty()) return folder;
  auto classes = classes_of(found, folder.joined);
  if (!classes) return in_context(path, classes.error());
  folder.classes = std::move(*classes);
  Classes table;
  for (const auto& one : tables) {
    if (auto added = add_table(one, table); !added) return in_context(path, added.error());
  }
  for (const auto& image : found) {
    const auto label = label_of_image(image, table, folder.classes);
    if (label) {
      folder.files.push_back({image.split, *label, image.name});
    } else {
      problems.add(in_context(path, label.error()));
    }
  }
  return folder;
}

// test/NAME.csv, also inside a wrapping folder.
bool is_test_table(const std::string& name) {
  const auto parts = parts_of(name, '/');
  return ending_of(name) == ".csv" && !is_hidden(name) && (parts.size() == 2 || parts.size() == 3) &&
         parts[parts.size() - 2] == "test";
}

}  // namespace

bool is_image_name(std::string_view name) { return kind_of(name) == Kind::image; }

std::string composed(std::string_view name) {
  if (std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return std::string(name);
  }
  utf8proc_uint8_t* made = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(name.data()),
                                   static_cast<utf8proc_ssize_t>(name.size()), &made,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, std::free);
  if (length < 0) return std::string(name);
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(length)};
}

bool is_same_class(std::string_view one, std::string_view other) { return composed(one) == composed(other); }

Result<ImageFolder> image_folder_of(const std::string& path, std::vector<std::string> names,
                                    const std::vector<ClassTable>& tables, FileHeads heads) {
  ErrorList problems;
  auto folder = listed(path, std::move(names), tables, std::move(heads), problems);
  if (!problems.empty()) return problems.error();
  return folder;
}

Result<ImageFolder> read_image_folder(const std::string& path, ErrorList& problems,
                                      const ArchiveLimits& limits) {
  std::vector<std::string> names;
  std::vector<ClassTable> tables;
  FileHeads heads;
  const auto wanted = [&names](const std::string& name) {
    names.push_back(name);
    if (is_hidden(name)) return FilePart::none;
    return is_test_table(name) ? FilePart::whole : FilePart::head;
  };
  std::uint64_t table_bytes = 0;
  const auto keep = [&](const std::string& name, std::string_view bytes) -> Result<void> {
    if (is_test_table(name)) {
      table_bytes += bytes.size();
      if (table_bytes > kMostTableBytes) {
        return error(fmt::format("{}: the tables of test/ have more than {} bytes.", name, kMostTableBytes));
      }
      tables.push_back({name, std::string(bytes)});
      return {};
    }
    if (is_image_name(name)) {
      if (auto image = check_format(bytes, name); !image) heads.broken[name] = image.error().message;
    } else if (begins_image(bytes)) {
      heads.images.insert(name);
    } else {
      return {};
    }
    if (is_turned_by_exif(bytes)) ++heads.turned;
    return {};
  };
  const auto leave = [&](const std::string& name, const Error& why) {
    problems.add(why);
    std::erase(names, name);
  };
  if (auto visited = visit_parts(path, wanted, keep, leave, limits); !visited) return visited.error();
  return listed(path, std::move(names), tables, std::move(heads), problems);
}

Result<ImageFolder> read_image_folder(const std::string& path, const ArchiveLimits& limits) {
  ErrorList problems;
  auto folder = read_image_folder(path, problems, limits);
  if (!problems.empty()) return problems.error();
  return folder;
}

}  // namespace hyfreedp::datasets
