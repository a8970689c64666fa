#include "datasets/adult.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "datasets/dataset.h"
#include "datasets/formats/csv.h"
#include "harness/base/text.h"
#include "harness/random/stream.h"

namespace hyfreedp::datasets {
namespace {

struct Column {
  std::string name;
  double unit = 0;                      // a numeric column's divisor
  std::vector<std::string> categories;  // of the others
  bool capital = false;
};

// The survey's largest answer in five digits, at which gains are cut.
constexpr double kTopCode = 99999;

// Units are round numbers of what a column can hold by its description, not by these rows: ages and
// hours have two digits, education 16 levels, a gain five digits. Losses: a round number above the
// 3,000 dollars a year that the tax code lets one deduct (26 U.S.C. 1211(b)). Weights (fnlwgt):
// millions.
std::vector<Column> columns() {
  return {
      {.name = "age", .unit = 100},
      {.name = "workclass",
       .categories = {"Federal-gov", "Local-gov", "Private", "Self-emp-inc", "Self-emp-not-inc", "State-gov",
                      "Without-pay"}},
      {.name = "fnlwgt", .unit = 1e6},
      {.name = "education",
       .categories = {"10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th", "9th", "Assoc-acdm",
                      "Assoc-voc", "Bachelors", "Doctorate", "HS-grad", "Masters", "Preschool", "Prof-school",
                      "Some-college"}},
      {.name = "education-num", .unit = 16},
      {.name = "marital-status",
       .categories = {"Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent",
                      "Never-married", "Separated", "Widowed"}},
      {.name = "occupation",
       .categories = {"Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing",
                      "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv",
                      "Prof-specialty", "Protective-serv", "Sales", "Tech-support", "Transport-moving"}},
      {.name = "relationship",
       .categories = {"Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"}},
      {.name = "race", .categories = {"Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"}},
      {.name = "sex", .categories = {"Female", "Male"}},
      {.name = "capital-gain", .unit = 1e5, .capital = true},
      {.name = "capital-loss", .unit = 5e3, .capital = true},
      {.name = "hours-per-week", .unit = 100},
      {.name = "native-country",
       .categories = {"Cambodia",
                      "Canada",
                      "China",
                      "Columbia",
                      "Cuba",
                      "Dominican-Republic",
                      "Ecuador",
                      "El-Salvador",
                      "England",
                      "France",
                      "Germany",
                      "Greece",
                      "Guatemala",
                      "Haiti",
                      "Holand-Netherlands",
                      "Honduras",
                      "Hong",
                      "Hungary",
                      "India",
                      "Iran",
                      "Ireland",
                      "Italy",
                      "Jamaica",
                      "Japan",
                      "Laos",
                      "Mexico",
                      "Nicaragua",
                      "Outlying-US(Guam-USVI-etc)",
                      "Peru",
                      "Philippines",
                      "Poland",
                      "Portugal",
                      "Puerto-Rico",
                      "Scotland",
                      "South",
                      "Taiwan",
                      "Thailand",
                      "Trinadad&Tobago",
                      "United-States",
                      "Vietnam",
                      "Yugoslavia"}},
      {.name = "income", .categories = {"<=50K", ">50K"}},
  };
}

bool complete(const CsvRecord& record) {
  return std::none_of(record.fields.begin(), record.fields.end(),
                      [](const std::string& field) { return field.empty() || field == "?"; });
}

Result<double> number(const Column& column, const std::string& text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0) {
    return error(fmt::format("{} is '{}', which is not a number of at least 0.", column.name, text));
  }
  return value;
}

Result<std::size_t> category(const Column& column, const std::string& text) {
  const auto found = std::find(column.categories.begin(), column.categories.end(), text);
  if (found == column.categories.end()) {
    return error(
        fmt::format("{} is '{}', which is not one of {}.", column.name, text, join(column.categories, ", ")));
  }
  return static_cast<std::size_t>(found - column.categories.begin());
}

// Appends one row's features and label.
Result<void> encode(const std::vector<Column>& columns, const CsvRecord& record, bool log_capital,
                    AdultTable& table) {
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
    const auto& column = columns[i];
    if (column.categories.empty()) {
      const auto value = number(column, record.fields[i]);
      if (!value) return value.error();
      const bool logarithm = log_capital && column.capital;
      table.features.push_back(
          static_cast<float>(logarithm ? std::log1p(*value) / std::log1p(kTopCode) : *value / column.unit));
      continue;
    }
    const auto which = category(column, record.fields[i]);
    if (!which) return which.error();
    table.features.resize(table.features.size() + column.categories.size(), 0.0F);
    *(table.features.end() - static_cast<std::ptrdiff_t>(column.categories.size() - *which)) = 1.0F;
  }
  const auto label = category(columns.back(), record.fields.back());
  if (!label) return label.error();
  table.labels.push_back(static_cast<std::int64_t>(*label));
  return {};
}

SplitData gather(const AdultTable& table, const std::vector<std::int64_t>& rows) {
  const auto n = static_cast<std::int64_t>(rows.size());
  SplitData data{.features = at::empty({n, static_cast<std::int64_t>(kAdultFeatures)}, at::kFloat),
                 .labels = at::empty({n}, at::kLong)};
  auto* features = data.features.mutable_data_ptr<float>();
  auto* labels = data.labels.mutable_data_ptr<std::int64_t>();
  for (const auto row : rows) {
    const auto* from = table.features.data() + static_cast<std::size_t>(row) * kAdultFeatures;
    features = std::copy(from, from + kAdultFeatures, features);
    *labels++ = table.labels[static_cast<std::size_t>(row)];
  }
  return data;
}

}  // namespace

Result<AdultTable> read_adult(const std::string& path, bool log_capital) {
  const auto layout = columns();
  std::vector<std::string> header;
  for (const auto& column : layout) header.push_back(column.name);
  const auto records = read_csv(path, header);
  if (!records) return records.error();
  AdultTable table;
  for (std::size_t place = 0; place < records->size(); ++place) {
    const auto& record = (*records)[place];
    if (!complete(record)) continue;
    if (auto encoded = encode(layout, record, log_capital, table); !encoded) {
      return in_context(fmt::format("{}:{}", path, record.line), encoded.error());
    }
    table.places.push_back(place);
  }
  HYFREEDP_CHECK(table.features.size() == table.places.size() * kAdultFeatures,
                 "a row of Adult has another length");
  return table;
}

std::array<std::vector<std::int64_t>, 3> split_adult(const std::vector<std::size_t>& places,
                                                     std::int64_t validation, std::int64_t test) {
  HYFREEDP_CHECK(test + validation <= static_cast<std::int64_t>(places.size()), "Adult has too few rows");
  std::vector<std::uint64_t> hashes(places.empty() ? 0 : places.back() + 1);
  random::fill_bits(random::key_from_seed("dataset adult, split, version 1"),
                    {.purpose = random::Purpose::split}, 0, hashes);
  std::vector<std::int64_t> rows(places.size());
  std::iota(rows.begin(), rows.end(), 0);
  const auto hash = [&](std::int64_t row) { return hashes[places[static_cast<std::size_t>(row)]]; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::int64_t a, std::int64_t b) { return hash(a) < hash(b); });
  const auto part = [&](std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> mine(rows.begin() + from, rows.begin() + to);
    std::sort(mine.begin(), mine.end());
    return mine;
  };
  return {part(test + validation, static_cast<std::int64_t>(rows.size())), part(test, test + validation),
          part(0, test)};
}

Result<Dataset> Adult::load(const Facts& facts, const json::object& options) {
  const Sizes n = sizes(options);
  const auto folder = locate(facts);
  if (!folder) return folder.error();
  if (auto verified = verify_files(facts, *folder); !verified) return verified.error();
  const bool log_capital = read_options<AdultOptions>(options).capital == Capital::log;
  const auto table = read_adult(*folder + "/adult.csv", log_capital);
  if (!table) return table.error();
  if (static_cast<std::int64_t>(table->places.size()) != n.private_train + n.private_validation + n.test) {
    return error(*folder +
                 "/adult.csv: its complete rows are not those that the splits were defined on. Get the file "
                 "that `hyfreedp list datasets` describes.");
  }
  const auto parts = split_adult(table->places, n.private_validation, n.test);
  return Dataset{.private_train = gather(*table, parts[0]),
                 .private_validation = gather(*table, parts[1]),
                 .test = gather(*table, parts[2])};
}

}  // namespace hyfreedp::datasets
