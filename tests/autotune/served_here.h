// A class that runs a tuning worker and exchanges messages with it in frames.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "autotune/worker/protocol.h"
#include "autotune/worker/worker.h"
#include "support/check.h"

namespace tunec::testing {

/// A worker on a thread of this process, so that a sanitizer checks the worker's code.
class ServedHere {
 public:
  ServedHere() {
    int sockets[2];
    TUNEC_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "no sockets");
    ours_ = sockets[0];
    worker_ = std::jthread([theirs = sockets[1]] {
      EXPECT_TRUE(ServeRequests(theirs));
      close(theirs);
    });
  }
  ~ServedHere() {
    shutdown(ours_, SHUT_RDWR);
    worker_.join();
    close(ours_);
  }
  ServedHere(const ServedHere&) = delete;
  ServedHere& operator=(const ServedHere&) = delete;

  /// Sends the text in a frame. Returns all events until the request is done or the worker has
  /// ended, without the DoneEvent.
  std::vector<Event> Ask(const std::string& text) { return AskBytes(Frame(text)); }

  std::vector<Event> AskBytes(const std::string& bytes) {
    EXPECT_TRUE(SendAll(ours_, bytes));
    std::vector<Event> events;
    std::string chunk(1 << 16, '\0');
    while (true) {
      for (auto text = reader_.Next(); text && *text; text = reader_.Next()) {
        const Result<Event> event = DecodeEvent(**text);
        EXPECT_TRUE(event) << event.error().Format();
        if (std::holds_alternative<DoneEvent>(*event)) return events;
        events.push_back(*event);
      }
      const ssize_t got = recv(ours_, chunk.data(), chunk.size(), 0);
      has_ended_ = got <= 0;
      if (has_ended_) return events;
      reader_.Append(std::string_view(chunk).substr(0, static_cast<size_t>(got)));
    }
  }

  /// Returns the error message if the worker's first event is an error, else "not rejected".
  std::string Rejection(const std::string& text) {
    const std::vector<Event> events = Ask(text);
    const auto* failed = events.empty() ? nullptr : std::get_if<FailedEvent>(&events.front());
    return failed == nullptr ? "not rejected" : failed->error.message;
  }

  /// Returns whether a request has found that the worker has ended.
  bool has_ended() const { return has_ended_; }

 private:
  int ours_ = -1;
  bool has_ended_ = false;
  FrameReader reader_;
  std::jthread worker_;
};

}  // namespace tunec::testing
