// Typed indices. The id of a tensor and the id of a statement have different types, and neither is
// an integer. Ids number the elements of one vector from 0. IdVector is a vector indexed by ids.
#pragma once

#include <fmt/core.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace tunec {

/// The number of an element in a vector. `Tag` distinguishes types of ids, and may be an incomplete
/// type. The default is the number of the first element.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  /// Makes the id of the element at `position`.
  template <std::integral Position>
  explicit constexpr Id(Position position) : number_(static_cast<int32_t>(position)) {}

  /// Returns the position of the element.
  constexpr size_t index() const { return static_cast<size_t>(number_); }
  /// Returns the number. Ids with negative numbers refer to no element.
  constexpr int32_t number() const { return number_; }
  /// Returns the id after this one.
  constexpr Id next() const { return Id(number_ + 1); }
  constexpr Id& operator++() { return *this = next(); }

  constexpr auto operator<=>(const Id&) const = default;

 private:
  int32_t number_ = 0;
};

/// The range of the first `count` ids, in order.
template <class Id>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;

    Iterator() = default;
    explicit Iterator(Id id) : id_(id) {}
    Id operator*() const { return id_; }
    Iterator& operator++() {
      ++id_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(std::exchange(id_, id_.next())); }
    bool operator==(const Iterator&) const = default;

   private:
    Id id_;
  };

  explicit IdRange(size_t count) : end_(count) {}
  Iterator begin() const { return Iterator(Id()); }
  Iterator end() const { return Iterator(end_); }

 private:
  Id end_;
};

/// A std::vector that is indexed by ids. Access beyond the last element is undefined behaviour.
template <class Id, class T>
class IdVector {
 public:
  using value_type = T;
  using reference = typename std::vector<T>::reference;
  using ConstReference = typename std::vector<T>::const_reference;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;

  IdVector() = default;
  explicit IdVector(size_t count) : elements_(count) {}
  IdVector(size_t count, const T& value) : elements_(count, value) {}
  IdVector(std::initializer_list<T> elements) : elements_(elements) {}

  reference operator[](Id id) { return elements_[id.index()]; }
  ConstReference operator[](Id id) const { return elements_[id.index()]; }
  bool contains(Id id) const { return id.number() >= 0 && id.index() < size(); }

  size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  iterator begin() { return elements_.begin(); }
  iterator end() { return elements_.end(); }
  const_iterator begin() const { return elements_.begin(); }
  const_iterator end() const { return elements_.end(); }
  reference front() { return elements_.front(); }
  ConstReference front() const { return elements_.front(); }
  reference back() { return elements_.back(); }
  ConstReference back() const { return elements_.back(); }

  /// Returns the ids of all current elements.
  IdRange<Id> ids() const { return IdRange<Id>(size()); }
  /// Returns the id that the next push_back will return.
  Id next_id() const { return Id(size()); }
  Id id_of(const_iterator element) const { return Id(element - begin()); }

  /// Appends an element and returns its id.
  Id push_back(T element) {
    elements_.push_back(std::move(element));
    return Id(size() - 1);
  }
  void pop_back() { elements_.pop_back(); }
  void clear() { elements_.clear(); }

  void resize(size_t count) { elements_.resize(count); }
  void assign(size_t count, const T& value) { elements_.assign(count, value); }
  template <std::input_iterator First>
  void assign(First first, First last) {
    elements_.assign(first, last);
  }
  /// Inserts before the element `at`. The ids of this and of later elements grow by 1, or by
  /// `last - first`.
  void insert(Id at, T element) { elements_.insert(begin() + at.number(), std::move(element)); }
  template <std::input_iterator First>
  void insert(Id at, First first, First last) {
    elements_.insert(begin() + at.number(), first, last);
  }
  void erase(Id id) { elements_.erase(begin() + id.number()); }

  /// Removes the elements that satisfy the predicate. The ids of later elements become smaller.
  template <class Predicate>
  friend void EraseIf(IdVector& elements, const Predicate& unwanted) {
    std::erase_if(elements.elements_, unwanted);
  }

  bool operator==(const IdVector&) const = default;

 private:
  std::vector<T> elements_;
};

}  // namespace tunec

template <class Tag>
struct fmt::formatter<tunec::Id<Tag>> : fmt::formatter<int32_t> {
  template <class Context>
  auto format(tunec::Id<Tag> id, Context& context) const {
    return fmt::formatter<int32_t>::format(id.number(), context);
  }
};
