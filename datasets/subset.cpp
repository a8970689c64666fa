#include "datasets/subset.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

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
  std::vector<OptionSpec> options;
  for (const auto& [name, split, size] : {std::tuple{"train", "private_train", all.private_train},
                                          {"validation", "private_validation", all.private_validation},
                                          {"test", "test", all.test}}) {
    if (size == 0) continue;
    options.push_back({.name = name,
                       .type = OptionType::integer,
                       .default_value = nullptr,
                       .help = fmt::format("records of {}, chosen by a fixed key (default: all {})", split,
                                           of_all.empty() ? std::to_string(size) : of_all),
                       .min = 1,
                       .max = static_cast<double>(size),
                       .stored_always = false});
  }
  return options;
}

Sizes with_counts(Sizes all, const json::object& options) {
  all.private_train = int_or(options, "train", all.private_train);
  all.private_validation = int_or(options, "validation", all.private_validation);
  all.test = int_or(options, "test", all.test);
  return all;
}

Result<void> check_counts(const Sizes& all, const json::object& options) {
  for (const auto& [name, size] :
       {std::pair{"train", all.private_train}, {"validation", all.private_validation}, {"test", all.test}}) {
    if (int_or(options, name, size) <= size) continue;
    return error(fmt::format("'{}' is {}, but under these options there are {} such records.", name,
                             int_or(options, name, size), size));
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
