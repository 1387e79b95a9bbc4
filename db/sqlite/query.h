// A prepared statement with its parameters bound in order. Throws SQLite::Exception, so it
// lives only inside DatabaseConnection::Read and Write.
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

/// Bytes, as opposed to text.
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

  /// Goes to the next row; false after the last.
  bool Step();
  /// Runs a statement that returns no rows; the number of rows it changed.
  int64_t Run();

  int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;  // also bytes
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

  std::unique_ptr<SQLite::Statement> statement_;
  int bound_ = 0;
};

}  // namespace tunec
