// Downloads from a server in this process: well-behaved, hostile, slow and broken ones.
#include "datasets/fetch/download.h"

#include <csignal>
#include <filesystem>
#include <sys/resource.h>

#include "../datasets/scratch.h"
#include "datasets/fetch/fetch.h"
#include "datasets/fetch/http_get.h"
#include "datasets/fetch/part_file.h"
#include "datasets/fetch/record.h"
#include "harness/base/files.h"
#include "test_server.h"

namespace hyfreedp::datasets {
namespace download_test {

// Bytes that differ from place to place.
std::string content_of(std::size_t size, unsigned seed = 1) {
  std::string bytes(size, '\0');
  for (auto& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

const std::string kContent = content_of(100'000);
const std::string kSha256 = sha256_hex(kContent);

// Serves a file as a good server does: ranges, ETag, If-Range.
struct GoodFile {
  std::string content = kContent;
  std::string etag = "\"v1\"";
  std::size_t break_after = 0;  // of the body; 0: never. Once
  bool ranges = true;

  void answer(const TestRequest& request, Connection& connection) {
    const auto range = request.header("range");
    const auto condition = request.header("if-range");
    std::size_t from = 0;
    if (ranges && range.starts_with("bytes=") && (condition.empty() || condition == etag))
      from = std::stoul(range.substr(6));
    if (from >= content.size() && from > 0) {
      connection.answer("416 Range Not Satisfiable", "");
      return;
    }
    std::string head = from > 0 ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " +
                                      std::to_string(from) + "-" + std::to_string(content.size() - 1) + "/" +
                                      std::to_string(content.size()) + "\r\n"
                                : "HTTP/1.1 200 OK\r\n";
    head += "Content-Length: " + std::to_string(content.size() - from) + "\r\n";
    if (!etag.empty()) head += "ETag: " + etag + "\r\n";
    connection.send(head + "Connection: close\r\n\r\n");
    const auto end = break_after > 0 ? break_after : content.size();
    break_after = 0;
    if (end > from) connection.send(content.substr(from, end - from));
  }
};

class Download : public Scratch {
 protected:
  Download() {
    transport_.pause_seconds = 0;
    transport_.connect_seconds = 5;
    transport_.stall_seconds = 5;
    transport_.attempts = 2;
    transport_.say = [this](const std::string& sentence) { said_ += sentence + "\n"; };
  }
  std::string target() const { return path("files/data.bin"); }
  // The error's message, or "".
  std::string get(const std::vector<std::string>& urls, std::uint64_t bytes = 0,
                  const std::string& sha256 = "") {
    const auto got = download({.urls = urls, .path = target(), .bytes = bytes, .sha256 = sha256}, transport_);
    return got ? "" : got.error().message;
  }
  std::string there() const {
    const auto content = read_file(target());
    return content ? *content : "(absent)";
  }
  static bool exists(const std::string& at) { return std::filesystem::exists(at); }
  static testing::AssertionResult mentions(const std::string& message, const std::string& what) {
    if (message.find(what) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << what << "' in: " << message;
  }
  Transport transport_;
  std::string said_;
};

TEST_F(Download, AWholeFileIsPutInPlaceWithItsRecord) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  std::uint64_t last = 0, all = 0;
  transport_.progress = [&](const std::string& name, std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(name, "data.bin");
    EXPECT_GE(done, last);
    last = done;
    all = total;
  };
  ASSERT_EQ(get({server.url("/data")}, kContent.size(), kSha256), "");
  EXPECT_EQ(there(), kContent);
  EXPECT_EQ(last, kContent.size());
  EXPECT_EQ(all, kContent.size());
  EXPECT_FALSE(exists(target() + ".part"));
  EXPECT_FALSE(exists(target() + ".part.json"));
  const auto record = read_record(target());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->from, server.url("/data"));
  EXPECT_EQ(record->bytes, kContent.size());
  EXPECT_EQ(record->sha256, kSha256);
  EXPECT_TRUE(record->pinned);
  EXPECT_EQ(record->date.size(), std::string("2026-01-01T00:00:00Z").size());
}

TEST_F(Download, AnUnpinnedFileIsRecordedAndComparedLater) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  const Supply supply = {.downloads = {{.name = "data.bin", .urls = {server.url("/data")}}}};
  ASSERT_TRUE(fetch(supply, path("files"), transport_).has_value());
  const auto record = read_record(target());
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->pinned);
  EXPECT_EQ(record->sha256, kSha256);
  const auto checked = [&] { return check_files(supplied_files(supply), path("files")).front().state; };
  EXPECT_EQ(checked(), FileState::as_recorded);
  // A second call asks nobody.
  ASSERT_TRUE(fetch(supply, path("files"), transport_).has_value());
  EXPECT_EQ(server.requests().size(), 1U);
  // A damaged one is fetched again.
  ASSERT_TRUE(write_file_atomically(target(), "damaged").has_value());
  EXPECT_EQ(checked(), FileState::different);
  ASSERT_TRUE(fetch(supply, path("files"), transport_).has_value());
  EXPECT_EQ(there(), kContent);
  std::filesystem::remove(record_path(target()));
  EXPECT_EQ(checked(), FileState::unknown);
  std::filesystem::remove(target());
  EXPECT_EQ(checked(), FileState::absent);
}

TEST_F(Download, AnInterruptedFileIsContinued) {
  GoodFile file;
  file.break_after = 30'000;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  transport_.attempts = 1;
  // Progress earns another attempt, so the break is mended within one call.
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(there(), kContent);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].header("range"), "");
  EXPECT_EQ(requests[1].header("range"), "bytes=30000-");
  EXPECT_EQ(requests[1].header("if-range"), "\"v1\"");
  EXPECT_TRUE(mentions(said_, "continues at 30 kB"));
}

// What a program leaves that is killed in the middle.
TEST_F(Download, AnotherProcessContinuesWhatOneLeft) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  const auto leave = [&](const PartVersion& version, std::size_t bytes) {
    auto part = PartFile::open(target());
    ASSERT_TRUE(part.has_value());
    ASSERT_TRUE((**part).restart(version).has_value());
    ASSERT_TRUE((**part).append(kContent.substr(0, bytes)).has_value());
  };
  leave({server.url("/data"), "\"v1\"", ""}, 70'000);
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(there(), kContent);
  EXPECT_EQ(server.requests().back().header("range"), "bytes=70000-");
  // Of another address, unpinned: begins anew. Pinned: continued, for the checksum will tell.
  leave({"http://elsewhere/", "\"v1\"", ""}, 70'000);
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(server.requests().back().header("range"), "");
  leave({"http://elsewhere/", "\"v1\"", ""}, 70'000);
  ASSERT_EQ(get({server.url("/data")}, 0, kSha256), "");
  EXPECT_EQ(server.requests().back().header("range"), "bytes=70000-");
  EXPECT_EQ(server.requests().back().header("if-range"), "");
  // A weak ETag vouches for nothing.
  leave({server.url("/data"), "W/\"v1\"", ""}, 70'000);
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(server.requests().back().header("range"), "");
  // All was there but the renaming: nobody is asked.
  const auto before = server.requests().size();
  std::filesystem::remove(target());
  leave({server.url("/data"), "\"v1\"", ""}, kContent.size());
  ASSERT_EQ(get({server.url("/data")}, kContent.size(), kSha256), "");
  EXPECT_EQ(server.requests().size(), before);
  EXPECT_EQ(there(), kContent);
  // A part as long as the file, of unknown length: its range is refused, and it begins anew.
  leave({server.url("/data"), "\"v1\"", ""}, kContent.size());
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(there(), kContent);
}

TEST_F(Download, AChangedFileIsNotJoined) {
  GoodFile file;
  file.content = content_of(100'000, 7);
  file.etag = "\"v2\"";
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  {
    auto part = PartFile::open(target());
    ASSERT_TRUE(part.has_value());
    ASSERT_TRUE((**part).restart({server.url("/data"), "\"v1\"", ""}).has_value());
    ASSERT_TRUE((**part).append(kContent.substr(0, 50'000)).has_value());
  }
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(there(), file.content);
  EXPECT_EQ(server.requests().back().header("if-range"), "\"v1\"");
  EXPECT_TRUE(mentions(said_, "begins anew"));
}

// A pinned file whose part is of something else: the checksum fails, and it is fetched whole.
TEST_F(Download, AWrongPartIsThrownAway) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  ASSERT_TRUE(write_file_atomically(target() + ".part", content_of(50'000, 9)).has_value());
  ASSERT_EQ(get({server.url("/data")}, kContent.size(), kSha256), "");
  EXPECT_EQ(there(), kContent);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Download, AServerThatIgnoresRangesBeginsAnew) {
  GoodFile file;
  file.ranges = false;
  file.break_after = 30'000;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(there(), kContent);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Download, AServerThatSendsAnotherRangeIsNotBelieved) {
  int count = 0;
  TestServer server([&](const auto&, auto& connection) {
    ++count;
    if (count == 1) {
      connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 100000\r\n\r\n" +
                      kContent.substr(0, 400));
    } else if (count == 2) {  // from 0, said to be a part
      connection.answer("206 Partial Content", kContent,
                        "ETag: \"v1\"\r\nContent-Range: bytes 0-99999/100000\r\n");
    } else {
      connection.answer("200 OK", kContent);
    }
  });
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(there(), kContent);
  ASSERT_EQ(count, 3);
  EXPECT_EQ(server.requests()[2].header("range"), "");
}

TEST_F(Download, AMissingFileIsSaidAndMirrorsAreTried) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) {
    if (request.target == "/data") return file.answer(request, connection);
    connection.answer("404 Not Found", "<html>a page of ours</html>");
  });
  const auto message = get({server.url("/none"), "file://" + path("absent")});
  EXPECT_TRUE(mentions(message, "data.bin cannot be fetched"));
  EXPECT_TRUE(mentions(message, "has no such file (404)"));
  EXPECT_TRUE(mentions(message, "there is no such file"));
  EXPECT_TRUE(mentions(message, "Run the same command again later"));
  EXPECT_FALSE(exists(target()) || exists(target() + ".part"));
  EXPECT_EQ(server.requests().size(), 1U);  // a 404 is not asked for twice
  ASSERT_EQ(get({server.url("/none"), server.url("/data")}), "");
  EXPECT_EQ(there(), kContent);
  EXPECT_EQ(read_record(target())->from, server.url("/data"));
}

TEST_F(Download, ABusyServerIsAskedAgain) {
  GoodFile file;
  int count = 0;
  TestServer server([&](const auto& request, auto& connection) {
    if (++count == 1) return connection.answer("503 Service Unavailable", "");
    file.answer(request, connection);
  });
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(count, 2);
}

TEST_F(Download, NobodyThere) {
  std::string url;
  {
    TestServer gone([](const auto&, auto&) {});
    url = gone.url("/data");
  }
  EXPECT_TRUE(mentions(get({url}), "127.0.0.1 takes no connection"));
  EXPECT_TRUE(mentions(get({"http://nowhere.invalid/x"}), "nowhere.invalid is not found"));
}

TEST_F(Download, AWrongChecksumLeavesNothing) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  const auto message = get({server.url("/data")}, kContent.size(), std::string(64, '0'));
  EXPECT_TRUE(mentions(message, "SHA-256 " + kSha256));
  EXPECT_TRUE(mentions(message, std::string(64, '0') + " is expected"));
  EXPECT_FALSE(exists(target()) || exists(target() + ".part") || exists(record_path(target())));
}

TEST_F(Download, AWrongSizeIsSaidBeforeItIsLoaded) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  EXPECT_TRUE(mentions(get({server.url("/data")}, 99'999), "has 100000 bytes there, 99999 are expected"));
  EXPECT_FALSE(exists(target()) || exists(target() + ".part"));
  // Of unknown length, it is cut off when it has become too long.
  TestServer endless([](const auto&, auto& connection) {
    connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    while (connection.send(content_of(10'000))) {
    }
  });
  EXPECT_TRUE(mentions(get({endless.url("/data")}, 50'000), "more than the expected 50000 bytes"));
}

TEST_F(Download, ATruncatedFileIsNeverInPlace) {
  // It says 100,000 bytes and sends 40,000, each time.
  TestServer server([](const auto&, auto& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n" +
                    kContent.substr(0, 40'000));
  });
  auto message = get({server.url("/data")});
  EXPECT_TRUE(mentions(message, "the connection ended too early, after 40 kB of 100 kB"));
  EXPECT_FALSE(exists(target()));
  // Without a length only the known size tells.
  TestServer silent([](const auto&, auto& connection) {
    connection.send("HTTP/1.0 200 OK\r\n\r\n" + kContent.substr(0, 40'000));
  });
  message = get({silent.url("/data")}, kContent.size());
  EXPECT_TRUE(mentions(message, "ended too early, after 40 kB of 100 kB"));
  EXPECT_TRUE(mentions(message, "go on after 40 kB"));
  EXPECT_FALSE(exists(target()));
}

TEST_F(Download, SlowIsAllowedAndAStallIsNot) {
  transport_.stall_seconds = 1;
  transport_.attempts = 1;
  const auto small = kContent.substr(0, 24);
  TestServer slow([&](const auto&, auto& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 24\r\nConnection: close\r\n\r\n");
    for (const char byte : small) {
      connection.send(std::string(1, byte));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  ASSERT_EQ(get({slow.url("/data")}), "");
  EXPECT_EQ(there(), small);
  TestServer stalled([&](const auto&, auto& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 24\r\nConnection: close\r\n\r\n" +
                    small.substr(0, 5));
    for (int i = 0; i < 300 && !stalled.ending(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  std::filesystem::remove(target());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(mentions(get({stalled.url("/data")}), "nothing came for 1 s, after 5 B of 24 B"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_FALSE(exists(target()));
}

TEST_F(Download, AnEmptyFileIsAFile) {
  TestServer server([](const auto&, auto& connection) { connection.answer("200 OK", ""); });
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(there(), "");
}

TEST_F(Download, FileAddressesAreCopied) {
  ASSERT_TRUE(write_file_atomically(path("mirror/data"), kContent).has_value());
  ASSERT_EQ(get({"file://" + path("mirror/data")}, kContent.size(), kSha256), "");
  EXPECT_EQ(there(), kContent);
}

TEST_F(Download, OtherAddressesAreRefused) {
  for (const auto* url :
       {"ftp://host/x", "scp://host/x", "gopher://host/x", "/etc/passwd", "", "http://", "dict://x"}) {
    EXPECT_TRUE(mentions(get({url}), "is no http, https or file address")) << url;
  }
  const auto message = get({"https://me:secret@127.0.0.1/x"});
  EXPECT_TRUE(mentions(message, "a user's name or password"));
}

class Redirected : public Download {
 protected:
  Redirected() {
    transport_.token = {.value = "hf_secret", .hosts = {"127.0.0.1"}, .over_http = true};
    transport_.attempts = 1;
  }
};

TEST_F(Redirected, TheTokenStaysWithItsHost) {
  GoodFile file;
  TestServer other([&](const auto& request, auto& connection) { file.answer(request, connection); });
  std::string to;
  TestServer hub([&](const auto& request, auto& connection) {
    if (request.target == "/data") return file.answer(request, connection);
    connection.answer("302 Found", "elsewhere", "Location: " + to + "\r\n");
  });
  const std::string bearer = "Bearer hf_secret";
  to = "/data";  // of the same host
  ASSERT_EQ(get({hub.url("/go")}), "");
  EXPECT_EQ(there(), kContent);
  ASSERT_EQ(hub.requests().size(), 2U);
  for (const auto& request : hub.requests()) EXPECT_EQ(request.header("authorization"), bearer);
  // Another port, another name of the same machine.
  for (const auto& place : {other.url("/signed?key=1"), hub.url("/data", "localhost")}) {
    to = place;
    std::filesystem::remove(target());
    ASSERT_EQ(get({hub.url("/go")}), "") << to;
    EXPECT_EQ(there(), kContent);
  }
  ASSERT_EQ(other.requests().size(), 1U);
  EXPECT_EQ(other.requests()[0].header("authorization"), "");
  EXPECT_EQ(other.requests()[0].target, "/signed?key=1");
  EXPECT_EQ(hub.requests().back().header("authorization"), "");
  EXPECT_EQ(hub.requests().back().header("host").substr(0, 9), "localhost");
  // What is kept has neither the token nor where the redirect led.
  const auto record = read_file(record_path(target())).value();
  EXPECT_TRUE(mentions(record, hub.url("/go")));
  EXPECT_EQ(record.find("hf_secret"), std::string::npos);
  EXPECT_EQ(record.find("localhost"), std::string::npos);
}

TEST_F(Redirected, ATokenIsForItsHostsOverHttpsAlone) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  ASSERT_EQ(get({server.url("/data", "localhost")}), "");
  EXPECT_EQ(server.requests().back().header("authorization"), "");
  transport_.token.over_http = false;
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(server.requests().back().header("authorization"), "");
  // Not even when an address elsewhere leads there.
  transport_.token.over_http = true;
  TestServer elsewhere([&](const auto&, auto& connection) {
    connection.answer("302 Found", "", "Location: " + server.url("/data") + "\r\n");
  });
  ASSERT_EQ(get({elsewhere.url("/go", "localhost")}), "");
  EXPECT_EQ(server.requests().back().header("authorization"), "");
}

TEST_F(Redirected, ATokenOfTheEnvironmentIsOneWord) {
  const ScopedVariable variable("HF_TOKEN", "hf_a\r\nX-Evil: 1");
  EXPECT_EQ(token_of_environment().value, "hf_aX-Evil:1");
  EXPECT_EQ(token_of_environment().hosts, std::vector<std::string>{"huggingface.co"});
  variable.set(std::nullopt);
  EXPECT_EQ(token_of_environment().value, "");
}

TEST_F(Redirected, AClosedDoorSaysHowToOpenIt) {
  TestServer hub([](const auto&, auto& connection) { connection.answer("401 Unauthorized", "no"); });
  EXPECT_TRUE(mentions(get({hub.url("/data")}), "HF_TOKEN is not allowed to read it"));
  transport_.token.value = "";
  const auto message = get({hub.url("/data")});
  EXPECT_TRUE(mentions(message, "accept the licence on its page and set HF_TOKEN"));
}

TEST_F(Redirected, CirclesAndLeadsToFilesAreRefused) {
  ASSERT_TRUE(write_file_atomically(path("secret"), "a file of this machine").has_value());
  std::string to;
  TestServer server(
      [&](const auto&, auto& connection) { connection.answer("302 Found", "", "Location: " + to + "\r\n"); });
  to = "/round";
  EXPECT_TRUE(mentions(get({server.url("/round")}), "redirected more than 10 times"));
  for (const auto& place : {"file://" + path("secret"), std::string("ftp://127.0.0.1/x")}) {
    to = place;
    EXPECT_TRUE(mentions(get({server.url("/data")}), "is not followed")) << place;
    EXPECT_FALSE(exists(target())) << place;
  }
}

TEST_F(Download, AFullDiskIsSaid) {
  GoodFile file;
  TestServer server([&](const auto& request, auto& connection) { file.answer(request, connection); });
  // No file of this process may grow beyond 50 kB for now.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 50'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto message = get({server.url("/data"), server.url("/mirror")});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old);
  EXPECT_TRUE(mentions(message, "cannot be written after 50000 bytes"));
  EXPECT_TRUE(mentions(message, "Run the same command again"));
  EXPECT_EQ(server.requests().size(), 1U);  // no mirror helps
  EXPECT_FALSE(exists(target()));
  ASSERT_EQ(get({server.url("/data")}), "");
  EXPECT_EQ(server.requests().back().header("range"), "bytes=50000-");
  EXPECT_EQ(there(), kContent);
}

TEST_F(Download, MoreThanTheDiskHasIsSaidAtOnce) {
  TestServer server([](const auto&, auto& connection) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4000000000000000\r\nConnection: close\r\n\r\nbytes");
  });
  EXPECT_TRUE(mentions(get({server.url("/data")}), "4e+03 TB are still needed"));
}

TEST_F(Download, TwoAtOnceDoNotMix) {
  const auto part = PartFile::open(target());
  ASSERT_TRUE(part.has_value());
  EXPECT_TRUE(mentions(get({"http://127.0.0.1:1/x"}), "another process is fetching this file"));
}

}  // namespace download_test
}  // namespace hyfreedp::datasets
