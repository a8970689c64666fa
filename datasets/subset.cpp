#include "datasets/subset.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

#include "harness/base/option_lines.h"
#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

// Rows of `all`, of which `wanted` are taken.
std::vector<std::int64_t> taken(const std::string& dataset, Split split, const std::vector<std::int64_t>& all,
                                std::int64_t wanted) {
  std::vector<std::int64_t> rows;
  for (const auto at : keyed_subset(dataset, split, static_cast<std::int64_t>(all.size()), wanted)) {
    rows.push_back(all[static_cast<std::size_t>(at)]);
  }
  return rows;
}

}  // namespace

std::vector<OptionSpec> count_options(const Sizes& all, const std::string& of_all) {
  std::vector<OptionSpec> table;
  for (const auto& [name, split, size] : {std::tuple{"train", "private_train", all.private_train},
                                          {"validation", "private_validation", all.private_validation},
                                          {"test", "test", all.test}}) {
    if (size == 0) continue;
    table.push_back(
        later_option(ranged_option(name, 1, static_cast<double>(size),
                                   fmt::format("records of {}, chosen by a fixed key (default: all {})",
                                               split, of_all.empty() ? std::to_string(size) : of_all))));
  }
  return options_of<CountOptions>(std::move(table));
}

Sizes with_counts(Sizes all, const json::object& options) {
  const auto asked = read_options<CountOptions>(options);
  all.private_train = asked.train.value_or(all.private_train);
  all.private_validation = asked.validation.value_or(all.private_validation);
  all.test = asked.test.value_or(all.test);
  return all;
}

Result<void> check_counts(const Sizes& all, const json::object& options, const std::string& where) {
  const auto n = with_counts(all, options);
  for (const auto& [name, asked, size] : {std::tuple{"train", n.private_train, all.private_train},
                                          {"validation", n.private_validation, all.private_validation},
                                          {"test", n.test, all.test}}) {
    if (asked <= size) continue;
    return error(fmt::format("'{}' is {}, but {} there are {} such records.", name, asked, where, size));
  }
  return {};
}

std::vector<std::int64_t> keyed_subset(const std::string& dataset, Split split, std::int64_t population,
                                       std::int64_t count) {
  HYFREEDP_CHECK(count <= population, "a subset of " + dataset + " has more records than there are");
  std::vector<std::int64_t> rows(static_cast<std::size_t>(population));
  std::iota(rows.begin(), rows.end(), 0);
  if (count == population) return rows;
  const auto key =
      random::key_from_seed(fmt::format("dataset {}, subset of {}, version 1", dataset, to_string(split)));
  std::vector<std::uint64_t> order(rows.size());
  random::fill_bits(key, {.purpose = random::Purpose::split}, 0, order);
  std::stable_sort(rows.begin(), rows.end(), [&order](std::int64_t a, std::int64_t b) {
    return order[static_cast<std::size_t>(a)] < order[static_cast<std::size_t>(b)];
  });
  rows.resize(static_cast<std::size_t>(count));
  std::sort(rows.begin(), rows.end());
  return rows;
}

DividedRows held_out_rows(const std::string& dataset, const Sizes& all, const Sizes& n) {
  const auto count = all.private_train + all.private_validation;
  const auto held_out =
      keyed_subset(dataset + ", held out", Split::private_validation, count, all.private_validation);
  const std::set<std::int64_t> validation(held_out.begin(), held_out.end());
  std::vector<std::int64_t> train;
  for (std::int64_t row = 0; row < count; ++row) {
    if (!validation.contains(row)) train.push_back(row);
  }
  return {.train = taken(dataset, Split::private_train, train, n.private_train),
          .validation = taken(dataset, Split::private_validation, held_out, n.private_validation),
          .test = keyed_subset(dataset, Split::test, all.test, n.test)};
}

}  // namespace hyfreedp::datasets
