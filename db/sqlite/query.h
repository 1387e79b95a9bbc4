// A prepared statement with its parameters bound in order. A Query may throw SQLite::Exception, so
// Query objects may exist only inside DatabaseConnection::Read and Write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace SQLite {
class Statement;
}

namespace tunec {

class DatabaseConnection;

/// Bytes that are bound as a blob, not as text.
struct Blob {
  std::string_view bytes;
};

class Query {
 public:
  template <class... Values>
  Query(DatabaseConnection& connection, const char* sql, const Values&... values)
      : Query(connection, sql, Unbound{}) {
    (Bind(values), ...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// Goes to the next row; returns false after the last.
  bool Step();
  /// Runs a statement that returns no rows, and returns the number of changed rows.
  int64_t Run();

  int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;  // returns the bytes of a blob too
  bool IsNull(int column) const;

 private:
  struct Unbound {};
  Query(DatabaseConnection& connection, const char* sql, Unbound);
  void Bind(int64_t value);
  void Bind(int value) { Bind(int64_t{value}); }
  void Bind(double value);
  void Bind(const std::string& value);
  void Bind(Blob value);
  template <class Value>
  void Bind(const std::optional<Value>& value) {
    value ? Bind(*value) : BindNull();
  }
  void BindNull();

  DatabaseConnection& connection_;
  std::unique_ptr<SQLite::Statement> statement_;
  int bound_ = 0;
};

}  // namespace tunec
