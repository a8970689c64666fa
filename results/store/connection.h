// One SQLite database, as the store uses it: what SQLite throws becomes an error, changes are
// whole, and statements are kept prepared.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "harness/base/result.h"

namespace hyfreedp::results {

struct Connection {
  std::string path;
  SQLite::Database database;
  std::map<std::string, std::unique_ptr<SQLite::Statement>> statements = {};  // null: in use
  bool is_together = false;                                                   // in write_together()

  // `name`: the file, or a URI of it.
  Connection(const std::string& file, const std::string& name, int flags);

  // To be called once, before all else. A database of an older schema is migrated: the file, or
  // where it is only read a copy in memory.
  Result<void> prepare(bool read_only);

  // To be called last, after writing. Takes the write-ahead log into the file, and the file out of
  // that mode, in which nobody can read it who may not write beside it. Where others have it open,
  // the log stays.
  void put_log_away() noexcept;

  // Store::write_together().
  Result<void> write_together(const std::function<Result<void>()>& body);

  // Runs `body`; what SQLite throws becomes an error that names the file.
  template <class Body>
  auto guarded(Body&& body) -> decltype(body()) {
    try {
      return body();
    } catch (const SQLite::Exception& failure) {
      return error(path + ": SQLite failed (" + failure.what() + ")");
    }
  }

  // One change as a whole: a transaction, or a part of the one that write_together() has begun.
  class Change {
   public:
    explicit Change(Connection& connection) : connection_(connection) {
      connection_.database.exec(connection_.is_together ? "SAVEPOINT change" : "BEGIN IMMEDIATE");
    }
    ~Change() {
      if (is_over_) return;
      // A full disk may have ended the transaction already.
      static_cast<void>(
          connection_.database.tryExec(connection_.is_together ? "ROLLBACK TO change" : "ROLLBACK"));
      if (connection_.is_together) static_cast<void>(connection_.database.tryExec("RELEASE change"));
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    void commit() {
      connection_.database.exec(connection_.is_together ? "RELEASE change" : "COMMIT");
      is_over_ = true;
    }

   private:
    Connection& connection_;
    bool is_over_ = false;
  };

  // A statement that is kept for the next time: preparing it takes longer than running it. In a use
  // within another one it is a further statement.
  class Prepared {
   public:
    Prepared(Connection& connection, const std::string& sql) : kept_(connection.statements[sql]) {
      statement_ = std::exchange(kept_, nullptr);
      if (!statement_) statement_ = std::make_unique<SQLite::Statement>(connection.database, sql);
    }
    ~Prepared() {
      // A statement that is not reset keeps its snapshot of the database.
      static_cast<void>(statement_->tryReset());
      kept_ = std::move(statement_);
    }
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;
    SQLite::Statement& operator*() const { return *statement_; }
    SQLite::Statement* operator->() const { return statement_.get(); }

   private:
    std::unique_ptr<SQLite::Statement>& kept_;
    std::unique_ptr<SQLite::Statement> statement_;
  };

  void keep_references();
  // Goes on with a copy in memory.
  void continue_in_memory();
};

}  // namespace hyfreedp::results
