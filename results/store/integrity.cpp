#include "results/store/integrity.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "results/store/database_file.h"

namespace hyfreedp::results {
namespace {

constexpr int kMostPages = 5;  // messages of the integrity check

}  // namespace

Result<std::vector<std::string>> integrity_problems(const std::string& path) {
  try {
    const auto access = read_access(path);
    SQLite::Database database(access.name, access.flags);
    std::vector<std::string> problems;
    SQLite::Statement check(database, fmt::format("PRAGMA integrity_check({})", kMostPages));
    while (check.executeStep()) {
      const auto said = check.getColumn(0).getString();
      if (said != "ok") problems.push_back("SQLite's integrity check says: " + said);
    }
    if (!problems.empty()) return problems;  // what follows would read damaged pages
    SQLite::Statement orphans(
        database,
        "SELECT DISTINCT \"table\", parent FROM pragma_foreign_key_check ORDER BY \"table\", parent");
    while (orphans.executeStep()) {
      problems.push_back(fmt::format("the table {} has lines that belong to no line of {}",
                                     orphans.getColumn(0).getString(), orphans.getColumn(1).getString()));
    }
    SQLite::Statement unreported(
        database,
        "SELECT spec, panel, row, epsilon_target, seed FROM studies WHERE state = 'concluded' AND "
        "reported_trial <> '' AND reported_trial NOT IN (SELECT id FROM trials) ORDER BY spec, panel, row, "
        "seed");
    while (unreported.executeStep()) {
      const auto epsilon = unreported.getColumn(3);
      problems.push_back(fmt::format("the run that a row reports is missing ({}, {}, {}, {}, seed {})",
                                     unreported.getColumn(0).getString(), unreported.getColumn(1).getString(),
                                     unreported.getColumn(2).getString(),
                                     epsilon.isNull() ? "non-private" : "epsilon " + epsilon.getString(),
                                     unreported.getColumn(4).getInt64()));
    }
    return problems;
  } catch (const SQLite::Exception& failure) {
    return error(fmt::format("{}: SQLite failed ({})", path, failure.what()));
  }
}

}  // namespace hyfreedp::results
