#include "datasets/same_data.h"

#include <algorithm>
#include <vector>

#include "datasets/own_files.h"
#include "harness/base/text.h"
#include "harness/random/partition.h"

namespace hyfreedp::datasets {
namespace {

// Generated data with other options are other data; a part of the data is not.
std::string name_with_options(const std::string& dataset, const json::object& options) {
  std::vector<std::string> parts;
  for (const auto& member : random::without_part(options)) {
    const auto& value = member.value();
    parts.push_back(std::string(member.key()) + " " +
                    (value.is_double() ? short_number(value.get_double()) : json::serialize(value)));
  }
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? dataset : dataset + " (" + join(parts, ", ") + ")";
}

// Of the user's own files; empty where the options have neither mark nor checksum.
std::string own_mark(const json::object& options) {
  const auto mark = string_or(options, "files_mark", "");
  const auto sha256 = string_or(options, "sha256", "");
  return mark.empty() && !sha256.empty() ? secret_mark(sha256).value_or("sha256 " + sha256) : mark;
}

}  // namespace

DataIdentity identity_of(const std::string& dataset, const json::object& options) {
  const auto found = find_dataset(dataset);
  if (!found) return {.name = dataset, .marks = {}};
  const auto& facts = **found;
  if (facts.files.empty() && !facts.own_records) {
    return {.name = name_with_options(dataset, options), .marks = {}};
  }
  DataIdentity identity{.name = data_name(dataset, options), .marks = {}};
  if (facts.own_records || !string_or(options, "path", "").empty()) {
    if (auto mark = own_mark(options); !mark.empty()) identity.marks.insert(std::move(mark));
    return identity;
  }
  for (const auto& file : facts.files) {
    if (file.sha256.empty()) continue;
    if (auto mark = secret_mark(file.sha256)) identity.marks.insert(std::move(*mark));
  }
  return identity;
}

bool is_same_data(const DataIdentity& one, const DataIdentity& other) {
  return one.name == other.name ||
         std::ranges::any_of(one.marks, [&](const auto& mark) { return other.marks.contains(mark); });
}

}  // namespace hyfreedp::datasets
