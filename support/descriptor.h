// An owner of a file descriptor. The destructor closes the descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace tunec {

class Descriptor {
 public:
  /// Makes an owner of `fd`. A negative value means no descriptor.
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { (void)Close(); }

  int get() const { return fd_; }
  /// Returns the descriptor, or a negative value if there is none. The descriptor stays open and no
  /// longer belongs to this object.
  int Release() { return std::exchange(fd_, -1); }
  /// Closes the descriptor now. Returns false if the system reports an error, such as a late write
  /// error.
  bool Close() { return fd_ < 0 || ::close(Release()) == 0; }

 private:
  int fd_;
};

}  // namespace tunec
