// Values of one row of the database, one after another, into and out of a prepared statement.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <optional>
#include <string>
#include <utility>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace hyfreedp::results {

// Binds one value after another.
class BoundRow {
 public:
  explicit BoundRow(SQLite::Statement& statement) : statement_(statement) {}
  BoundRow& operator<<(const std::string& value) { return statement_.bind(++index_, value), *this; }
  BoundRow& operator<<(std::int64_t value) { return statement_.bind(++index_, value), *this; }
  BoundRow& operator<<(double value) { return statement_.bind(++index_, value), *this; }
  BoundRow& operator<<(const std::optional<double>& value) {
    value ? statement_.bind(++index_, *value) : statement_.bind(++index_);
    return *this;
  }
  BoundRow& operator<<(const std::optional<std::int64_t>& value) {
    value ? statement_.bind(++index_, *value) : statement_.bind(++index_);
    return *this;
  }
  BoundRow& operator<<(const std::optional<std::string>& value) {
    value ? statement_.bind(++index_, *value) : statement_.bind(++index_);
    return *this;
  }

 private:
  SQLite::Statement& statement_;
  int index_ = 0;
};

// Reads one column after another. The first unreadable value is kept as the row's error.
class Columns {
 public:
  Columns(SQLite::Statement& statement, std::string where)
      : statement_(statement), where_(std::move(where)) {}

  std::string text() { return statement_.getColumn(index_++).getString(); }
  std::int64_t integer() { return statement_.getColumn(index_++).getInt64(); }
  double real() { return statement_.getColumn(index_++).getDouble(); }
  std::optional<double> optional_real() {
    const auto column = statement_.getColumn(index_++);
    return column.isNull() ? std::optional<double>{} : column.getDouble();
  }
  std::optional<std::int64_t> optional_integer() {
    const auto column = statement_.getColumn(index_++);
    return column.isNull() ? std::optional<std::int64_t>{} : column.getInt64();
  }
  std::optional<std::string> optional_text() {
    const auto column = statement_.getColumn(index_++);
    return column.isNull() ? std::optional<std::string>{} : column.getString();
  }
  json::value parsed() { return take(parse_json(text(), where_)); }
  json::object object() {
    auto value = parsed();
    if (value.is_object()) return std::move(value.get_object());
    keep(error("a JSON object was expected"));
    return {};
  }

  template <class T>
  T take(Result<T> result) {
    if (result) return std::move(*result);
    keep(result.error());
    return T{};
  }

  Result<void> outcome() const {
    if (!failure_) return {};
    return error(
        where_ + ": the database holds a value that cannot be read (" + failure_->message +
        "). Put back a copy of the file, or go on in another folder with --out DIR. Keep this one: it "
        "may be the only record of what private selections released.");
  }

 private:
  void keep(const Error& failure) {
    if (!failure_) failure_ = failure;
  }
  SQLite::Statement& statement_;
  std::string where_;
  int index_ = 0;
  std::optional<Error> failure_;
};

}  // namespace hyfreedp::results
