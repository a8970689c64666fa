// Counts, from values.json, what HyFreeDP's own result tables (2 and 7) say against the paper's
// statements.
#include <fmt/format.h>
#include <map>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

constexpr const char* kBound = "NonDP-GS";
constexpr const char* kOurs = "HyFreeDP";

// fine-tuning, epsilon, method, model + data set -> accuracy
using Accuracies = std::map<Labels, double>;

Accuracies accuracies_of(const PaperValues& paper) {
  Accuracies found;
  for (const char* table : {"2", "7"}) {
    for (const auto& cell : paper.table(table)) {
      Labels key = cell.row;
      key.insert(key.end(), cell.columns.begin(), cell.columns.end());
      found[key] = cell.value;
    }
  }
  return found;
}

// The number of pairs of values, and of those in which `left` exceeds or equals `right`.
struct Count {
  int above = 0;
  int equal = 0;
  int pairs = 0;
  void take(double left, double right) {
    ++pairs;
    above += left > right ? 1 : 0;
    equal += left == right ? 1 : 0;
  }
  void add(const Count& other) {
    above += other.above;
    equal += other.equal;
    pairs += other.pairs;
  }
};

// Compares the value of (epsilon, method) a with that of b over all cells of a fine-tuning.
Count compare(const Accuracies& all, const std::string& tuning, const Labels& a, const Labels& b) {
  Count count;
  for (const auto& [key, value] : all) {
    if (key[0] != tuning || key[1] != a[0] || key[2] != a[1]) continue;
    Labels other = key;
    other[1] = b[0];
    other[2] = b[1];
    const auto found = all.find(other);
    if (found != all.end()) count.take(value, found->second);
  }
  return count;
}

results::ValueRow row_of(const std::string& statement, const std::string& where, const Count& count) {
  return {{statement, where},
          {ours_alone(count.above, 0), ours_alone(count.equal, 0), ours_alone(count.pairs, 0)}};
}

void upper_bound(const Accuracies& all, results::ValueTable& table) {
  Count total;
  for (const char* tuning : {"full", "bitfit"}) {
    for (const char* epsilon : {"1", "3", "8"}) {
      const auto count = compare(all, tuning, {epsilon, kOurs}, {epsilon, kBound});
      total.add(count);
      table.rows.push_back(
          row_of("HyFreeDP above NonDP-GS", fmt::format("{}, epsilon {}", tuning, epsilon), count));
    }
  }
  auto row = row_of("HyFreeDP above NonDP-GS", "all private cells", total);
  footnote(table, row.cells[0],
           "The paper calls NonDP-GS, whose search is not charged, the performance upper bound.");
  table.rows.push_back(std::move(row));
}

void falling(const Accuracies& all, results::ValueTable& table) {
  Count total;
  for (const char* tuning : {"full", "bitfit"}) {
    for (const char* method :
         {"NonDP-GS", "NonDP-GS w/ LS", "D-adaptation", "Prodigy", "DP-hyper", "HyFreeDP"}) {
      const auto count = compare(all, tuning, {"3", method}, {"8", method});
      if (count.pairs == 0) continue;
      total.add(count);
      table.rows.push_back(
          row_of("accuracy falls from epsilon 3 to 8", fmt::format("{}, {}", tuning, method), count));
    }
  }
  auto row = row_of("accuracy falls from epsilon 3 to 8", "all methods", total);
  footnote(
      table, row.cells[0],
      "More budget means less noise; the setting of the table at epsilon 8 may differ from the other's.");
  table.rows.push_back(std::move(row));
}

void prodigy_above_d_adaptation(const Accuracies& all, results::ValueTable& table) {
  Count total;
  for (const char* epsilon : {"1", "3", "8"}) {
    const auto count = compare(all, "full", {epsilon, "Prodigy"}, {epsilon, "D-adaptation"});
    total.add(count);
    table.rows.push_back(
        row_of("Prodigy above D-adaptation", fmt::format("full, epsilon {}", epsilon), count));
  }
  auto row = row_of("Prodigy above D-adaptation", "full, all private cells", total);
  footnote(table, row.cells[1],
           "Two methods that agree to the digit in a private cell probably never left their first rate.");
  table.rows.push_back(std::move(row));
}

Result<Analytic> compute_table(const json::object&, const PaperValues& paper) {
  const auto all = accuracies_of(paper);
  if (all.empty())
    return error("this item counts in the paper's tables 2 and 7 and needs the paper's values.json.");
  Analytic done;
  auto& table = done.table;
  table.name = "hyfreedp-table-2-contradictions";
  table.title = "What HyFreeDP's tables 2 and 7 say against its text";
  table.description =
      "Pairs of printed cells that differ only in the named thing, counted from the paper's values.";
  table.row_fields = {"comparison", "where"};
  table.columns = {"cells", "equal", "of"};
  upper_bound(all, table);
  falling(all, table);
  prodigy_above_d_adaptation(all, table);
  return done;
}

}  // namespace

Item hyfreedp_table_2_contradictions() {
  return {"hyfreedp-table-2-contradictions",
          "Printed cells of tables 2 and 7 that contradict the text, counted",
          "Liu & Bu 2025 (HyFreeDP), tables 2 and 7, section 5",
          "hyfreedp",
          {},
          compute_table};
}

}  // namespace hyfreedp::analytic
