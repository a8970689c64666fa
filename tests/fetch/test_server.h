// An HTTP server on 127.0.0.1 whose answers a test writes byte by byte.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <istream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hyfreedp::datasets {

struct TestRequest {
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class Connection {
 public:
  explicit Connection(boost::asio::ip::tcp::socket& socket) : socket_(socket) {}
  // Whether the other side still takes it.
  bool send(const std::string& bytes) {
    boost::system::error_code code;
    boost::asio::write(socket_, boost::asio::buffer(bytes), code);
    return !code;
  }
  // A whole answer.
  void answer(const std::string& status, const std::string& body, const std::string& headers = "") {
    send("HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "Connection: close\r\n\r\n" + body);
  }

 private:
  boost::asio::ip::tcp::socket& socket_;
};

class TestServer {
 public:
  using Handler = std::function<void(const TestRequest&, Connection&)>;
  explicit TestServer(Handler handler)
      : handler_(std::move(handler)),
        acceptor_(io_, {boost::asio::ip::make_address("127.0.0.1"), 0}),
        thread_([this] { serve(); }) {}
  ~TestServer() {
    ending_ = true;
    boost::asio::ip::tcp::socket last(io_);  // wakes the accept
    boost::system::error_code ignored;
    last.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::string url(const std::string& target, const std::string& host = "127.0.0.1") const {
    return "http://" + host + ":" + std::to_string(acceptor_.local_endpoint().port()) + target;
  }
  std::vector<TestRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // Whether the test is over; a handler that waits must look.
  bool ending() const { return ending_; }

 private:
  void serve() {
    while (!ending_) {
      boost::asio::ip::tcp::socket socket(io_);
      boost::system::error_code code;
      acceptor_.accept(socket, code);
      if (code || ending_) return;
      boost::asio::streambuf buffer;
      boost::asio::read_until(socket, buffer, "\r\n\r\n", code);
      if (code) continue;
      std::istream in(&buffer);
      TestRequest request;
      std::string word;
      in >> word >> request.target;
      std::getline(in, word);
      for (std::string line; std::getline(in, line) && line != "\r";) {
        const auto colon = line.find(": ");
        if (colon == std::string::npos) continue;
        auto name = line.substr(0, colon);
        for (auto& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
      }
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      Connection connection(socket);
      handler_(request, connection);
      socket.shutdown(boost::asio::ip::tcp::socket::shutdown_both, code);
    }
  }

  Handler handler_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  std::vector<TestRequest> requests_;
  std::thread thread_;
};

}  // namespace hyfreedp::datasets
