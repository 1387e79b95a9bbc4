#include "db/sqlite/query.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <limits>

#include "db/sqlite/connection.h"

namespace tunec {

Query::Query(DatabaseConnection& connection, const char* sql, Unbound)
    : connection_(connection), statement_(connection.TakeStatement(sql)) {}

Query::~Query() { connection_.ReturnStatement(std::move(statement_)); }

bool Query::Step() { return statement_->executeStep(); }

int64_t Query::Run() { return statement_->exec(); }

int64_t Query::Integer(int column) const { return statement_->getColumn(column).getInt64(); }

double Query::Real(int column) const { return statement_->getColumn(column).getDouble(); }

std::string Query::Text(int column) const { return statement_->getColumn(column).getString(); }

bool Query::IsNull(int column) const { return statement_->isColumnNull(column); }

void Query::Bind(int64_t value) { statement_->bind(++bound_, value); }

void Query::Bind(double value) { statement_->bind(++bound_, value); }

void Query::Bind(const std::string& value) {
  if (value.size() > std::numeric_limits<int>::max()) {
    throw SQLite::Exception("text is too big", SQLITE_TOOBIG);
  }
  statement_->bind(++bound_, value);
}

void Query::Bind(Blob value) {
  if (value.bytes.size() > std::numeric_limits<int>::max()) {
    throw SQLite::Exception("object is too big", SQLITE_TOOBIG);
  }
  // A null pointer would bind NULL instead of an empty blob.
  const char* data = value.bytes.empty() ? "" : value.bytes.data();
  statement_->bind(++bound_, data, static_cast<int>(value.bytes.size()));
}

void Query::BindNull() { statement_->bind(++bound_); }

}  // namespace tunec
