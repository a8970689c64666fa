#include "datasets/own/parts.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

#include "datasets/own/own_files.h"
#include "harness/base/text.h"
#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::uint64_t kTenth = std::numeric_limits<std::uint64_t>::max() / 10;
constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

// "a, b or c"
std::string listed(Names names, const char* last) {
  const auto end = std::move(names.back());
  names.pop_back();
  return names.empty() ? end : fmt::format("{} {} {}", join(names, ", "), last, end);
}

// folder/STEM.EXT; nothing where there is none.
Result<std::optional<std::string>> file_called(const std::string& folder, const std::string& stem,
                                               const Names& endings) {
  Names found;
  std::error_code ignored;
  for (const auto& ending : endings) {
    const auto file = fmt::format("{}/{}{}", folder, stem, ending);
    if (fs::is_regular_file(file, ignored)) found.push_back(file);
  }
  if (found.size() > 1) return error(join(found, " and ") + ": only one of them may be there.");
  return found.empty() ? std::optional<std::string>() : std::optional(found.front());
}

// A number for each record, of its place alone. Tables were the first to be divided so, and a
// record is in the same split whatever reads its file.
std::vector<std::uint64_t> hashes_of(std::size_t count, const char* part) {
  std::vector<std::uint64_t> hashes(count);
  random::fill_bits(random::key_from_seed(fmt::format("dataset table-file, version 1, {}", part)),
                    {.purpose = random::Purpose::split}, 0, hashes);
  return hashes;
}

// The places whose hash is in [from, to], in the order of their hashes.
std::vector<std::int64_t> places_between(const std::vector<std::uint64_t>& hashes, std::uint64_t from,
                                         std::uint64_t to) {
  std::vector<std::int64_t> places;
  for (std::size_t place = 0; place < hashes.size(); ++place) {
    if (from <= hashes[place] && hashes[place] <= to) places.push_back(static_cast<std::int64_t>(place));
  }
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
    return hashes[static_cast<std::size_t>(a)] < hashes[static_cast<std::size_t>(b)];
  });
  return places;
}

}  // namespace

Result<PartFiles> part_files(const std::string& path, const PartEndings& given, const json::object& options) {
  Names endings(given.endings.begin(), given.endings.end());
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    if (std::ranges::any_of(endings, [&](const auto& ending) { return path.ends_with(ending); }))
      return PartFiles{.train = path, .test = {}};
    return error(
        fmt::format("{}: its name must end with {}{}.", path, listed(endings, "or"), given.about_more));
  }
  endings.insert(endings.end(), given.more.begin(), given.more.end());
  auto train = file_called(path, "train", endings), test = file_called(path, "test", endings);
  if (!train) return train.error();
  if (!test) return test.error();
  if (*train) return PartFiles{.train = std::move(**train), .test = std::move(*test)};
  const auto asked = read_options<CountOptions>(options);
  if (*test && asked.train == 0 && asked.validation == 0)
    return PartFiles{.train = {}, .test = std::move(*test)};
  for (auto& ending : endings) ending.erase(0, 1);
  return error(
      fmt::format("{}: there is no train.EXT in that folder; EXT is {}.", path, listed(endings, "or")));
}

Result<std::array<SplitPlaces, 3>> split_places(std::size_t train, std::size_t test,
                                                const json::object& options, const char* noun) {
  const bool has_test = test > 0;
  const auto places = hashes_of(train, "train");
  const auto validation_from = has_test ? 0 : kTenth + 1;
  const auto train_from = validation_from + kTenth + 1;
  std::array<SplitPlaces, 3> splits = {
      SplitPlaces{false, places_between(places, train_from, kLast)},
      SplitPlaces{false, places_between(places, validation_from, train_from - 1)},
      has_test ? SplitPlaces{true, places_between(hashes_of(test, "test"), 0, kLast)}
               : SplitPlaces{false, places_between(places, 0, kTenth)}};
  const auto asked = read_options<CountOptions>(options);
  for (const auto& [name, count, split] : {std::tuple{"train", asked.train, &splits[0]},
                                           {"validation", asked.validation, &splits[1]},
                                           {"test", asked.test, &splits[2]}}) {
    auto& chosen = split->places;
    // A shift set asks for its test records alone (test_alone).
    if (chosen.empty() && count != 0)
      return error(fmt::format("{} {} are too few: none is in the part for {}.", train, noun, name));
    const auto all = std::ssize(chosen);
    const auto wanted = count.value_or(all);
    if (wanted > all)
      return error(fmt::format("'{}' asks for {} {}, but there are {}.", name, wanted, noun, all));
    chosen.resize(static_cast<std::size_t>(wanted));
  }
  return splits;
}

std::string untested_note(const std::string& path, const char* record, std::vector<std::string> missing) {
  constexpr std::size_t kShown = 5;
  const bool is_one = missing.size() == 1;
  return fmt::format("{}: no {} of test is of the class{} {}: the accuracy says nothing of {}", path, record,
                     is_one ? "" : "es", first_of(std::move(missing), kShown), is_one ? "it" : "them");
}

Result<void> check_sizes_given(const Error& absent, const json::object& options,
                               const std::vector<std::string>& sizes) {
  if (std::ranges::all_of(sizes, [&](const auto& name) { return is_given(options, name); })) return {};
  return error(
      fmt::format("{} Without it a spec must give {} itself.", absent.message, listed(sizes, "and")));
}

}  // namespace hyfreedp::datasets
