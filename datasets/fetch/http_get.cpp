#include "datasets/fetch/http_get.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <curl/curl.h>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace hyfreedp::datasets {
namespace {

constexpr int kMostRedirects = 10;

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
using List = std::unique_ptr<curl_slist, FreeList>;

void start_curl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  HYFREEDP_CHECK(started == CURLE_OK, "libcurl cannot be started");
}

struct Address {
  std::string scheme, host, port, user;
};

std::optional<Address> address_of(const std::string& url) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (!parsed ||
      curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    return std::nullopt;
  const auto part = [&](CURLUPart which) -> std::string {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), which, &text, CURLU_DEFAULT_PORT) != CURLUE_OK || text == nullptr)
      return "";
    std::string copy(text);
    curl_free(text);
    return copy;
  };
  Address address{part(CURLUPART_SCHEME), part(CURLUPART_HOST), part(CURLUPART_PORT), part(CURLUPART_USER)};
  std::transform(address.host.begin(), address.host.end(), address.host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return address;
}

// "[prefix]NUMBER...": the number, or nothing.
std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// The header lines of an answer.
struct Headers {
  std::string etag, last_modified, content_range;
  std::optional<std::uint64_t> length;

  void line(std::string_view text) {
    while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' '))
      text.remove_suffix(1);
    if (text.starts_with("HTTP/")) {  // of an interim answer before this one
      *this = {};
      return;
    }
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(text.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    text.remove_prefix(colon + 1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (name == "etag") etag = text;
    if (name == "last-modified") last_modified = text;
    if (name == "content-range") content_range = text;
    if (name == "content-length") length = leading_number(text);
  }
  // "bytes 5-9/10": the first byte, and the whole length or 0.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range() const {
    std::string_view text = content_range;
    if (!text.starts_with("bytes ")) return std::nullopt;
    text.remove_prefix(6);
    const auto first = leading_number(text);
    const auto slash = text.find('/');
    if (!first || slash == std::string_view::npos) return std::nullopt;
    return std::pair(*first, leading_number(text.substr(slash + 1)).value_or(0));
  }
};

// One request of a chain of redirects.
struct Hop {
  CURL* easy = nullptr;
  std::uint64_t from = 0;
  const Transport* transport = nullptr;
  Receiver* receiver = nullptr;
  Headers headers = {};
  bool begun = false;
  bool other_range = false;
  std::optional<Error> stopped = {};

  long status() const {
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
  bool has_file() const {
    const auto code = status();
    return code == 200 || code == 206 || code == 0;  // 0: a file URL
  }
  // Returns true if the receiver may be handed the bytes.
  bool begin() {
    if (begun) return !stopped && !other_range;
    begun = true;
    Begin begin{.continued = status() == 206 && from > 0,
                .total = headers.length.value_or(0),
                .etag = headers.etag,
                .last_modified = headers.last_modified};
    if (status() == 206) {
      const auto range = headers.range();
      other_range = !range || range->first != from;
      if (other_range) return false;
      begin.total = range->second;
    }
    if (auto taken = receiver->begin(begin); !taken) stopped = taken.error();
    return !stopped;
  }
};

std::size_t take_header(char* text, std::size_t size, std::size_t count, void* data) {
  static_cast<Hop*>(data)->headers.line({text, size * count});
  return size * count;
}

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* data) {
  auto& hop = *static_cast<Hop*>(data);
  if (!hop.has_file()) return size * count;  // the page that comes with an error
  if (!hop.begin()) return 0;
  if (auto taken = hop.receiver->take({bytes, size * count}); !taken) {
    hop.stopped = taken.error();
    return 0;
  }
  return size * count;
}

Got refused(std::string why) { return {Got::Ending::refused, std::move(why)}; }
Got broken(std::string why) { return {Got::Ending::broken, std::move(why)}; }

Got failed(CURLcode code, const Hop& hop, const std::string& host, const char* detail) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return refused(fmt::format("the host {} is not found (is there a network?)", host));
    case CURLE_COULDNT_CONNECT:
      return refused(fmt::format("{} takes no connection", host));
    case CURLE_OPERATION_TIMEDOUT: {
      double connected = 0;
      curl_easy_getinfo(hop.easy, CURLINFO_PRETRANSFER_TIME, &connected);
      if (connected == 0)
        return refused(fmt::format("{} did not answer within {} s", host, hop.transport->connect_seconds));
      return broken(fmt::format("nothing came for {} s", hop.transport->stall_seconds));
    }
    case CURLE_PEER_FAILED_VERIFICATION:
      return refused(fmt::format("the certificate of {} is not trusted here ({})", host, detail));
    case CURLE_FILE_COULDNT_READ_FILE:
      return refused("there is no such file, or it may not be read");
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return refused("the address cannot be used");
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
      return broken("the connection ended too early");
    default:
      return broken(
          fmt::format("the transfer failed ({})", *detail != '\0' ? detail : curl_easy_strerror(code)));
  }
}

// Says what an answer without the file means.
Got answered(long status, const std::string& host, bool has_token) {
  if (status == 404 || status == 410) return refused(fmt::format("{} has no such file ({})", host, status));
  if (status == 401 || status == 403) {
    return refused(fmt::format("{} does not hand it out ({}){}", host, status,
                               has_token ? "; HF_TOKEN is not allowed to read it"
                                         : "; where it asks for an account, accept the licence on its page "
                                           "and set HF_TOKEN"));
  }
  if (status == 416) return {Got::Ending::no_range, "there is no such range (416)"};
  if (status == 408 || status == 429 || status >= 500)
    return broken(fmt::format("{} is busy or out of order ({})", host, status));
  return refused(fmt::format("{} answered {}", host, status));
}

struct HopEnd {
  Got got;
  std::string redirect;  // where to go on; empty: nowhere
};

HopEnd perform(const std::string& url, const Address& address, bool send_token, const GetRequest& request,
               const Transport& transport, Receiver& receiver) {
  const Easy easy(curl_easy_init());
  HYFREEDP_CHECK(easy != nullptr, "libcurl has no handle");
  CURL* const handle = easy.get();
  Hop hop{.easy = handle, .from = request.from, .transport = &transport, .receiver = &receiver};
  char detail[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "hyfreedp");
  // Redirects are followed by http_get, which watches where to.
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, transport.connect_seconds);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, transport.stall_seconds);
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 256L * 1024);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &hop);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &hop);
  List list;
  const auto header = [&list](const std::string& text) {
    curl_slist* longer = curl_slist_append(list.get(), text.c_str());
    HYFREEDP_CHECK(longer != nullptr, "out of memory");
    static_cast<void>(list.release());
    list.reset(longer);
  };
  const auto range = fmt::format("{}-", request.from);
  if (request.from > 0 && address.scheme != "file") {
    curl_easy_setopt(handle, CURLOPT_RANGE, range.c_str());
    if (!request.if_range.empty()) header("If-Range: " + request.if_range);
  }
  if (send_token) header("Authorization: Bearer " + transport.token.value);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, list.get());

  const CURLcode code = curl_easy_perform(handle);
  if (hop.stopped) return {{Got::Ending::stopped, hop.stopped->message}, ""};
  if (hop.other_range) return {{Got::Ending::no_range, "another range came than was asked for"}, ""};
  if (code != CURLE_OK) return {failed(code, hop, address.host, detail), ""};
  const auto status = hop.status();
  char* redirect = nullptr;
  curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &redirect);
  if (status >= 300 && status < 400 && redirect != nullptr) return {{}, redirect};
  if (!hop.has_file()) return {answered(status, address.host, send_token), ""};
  if (!hop.begin()) {  // an empty file
    return {hop.stopped ? Got{Got::Ending::stopped, hop.stopped->message}
                        : Got{Got::Ending::no_range, "another range came than was asked for"},
            ""};
  }
  return {{}, ""};
}

bool may_have_token(const Address& address, const Token& token) {
  return !token.value.empty() && (address.scheme == "https" || token.over_http) &&
         std::find(token.hosts.begin(), token.hosts.end(), address.host) != token.hosts.end();
}

}  // namespace

Token token_of_environment() {
  const char* value = std::getenv("HF_TOKEN");
  Token token;
  if (value != nullptr) token.value = value;
  // A line's end in a header would begin another one.
  std::erase_if(token.value, [](unsigned char c) { return c <= ' ' || c >= 127; });
  return token;
}

namespace {

// Checks that it is an http, https or file URL without a user's name in it.
Result<void> check_url(const std::string& url) {
  const auto address = address_of(url);
  const auto scheme = address ? address->scheme : "";
  if (scheme != "http" && scheme != "https" && scheme != "file") {
    return error(fmt::format("'{}' is no http, https or file address; no other can be fetched.", url));
  }
  if (!address->user.empty()) {
    return error(
        "an address with a user's name or password in it is not fetched, because it would be printed and "
        "stored; a hub's token is taken from HF_TOKEN.");
  }
  return {};
}

}  // namespace

Got http_get(const GetRequest& request, const Transport& transport, Receiver& receiver) {
  start_curl();
  const auto first = address_of(request.url);
  if (auto usable = check_url(request.url); !usable) return refused(usable.error().message);
  std::string url = request.url;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    const auto address = address_of(url);
    if (!address) return refused("a redirect leads to an address that cannot be read");
    if (redirects > 0 && address->scheme != "http" && address->scheme != "https")
      return refused(fmt::format("a redirect leads to a {} address; it is not followed", address->scheme));
    if (first->scheme == "https" && address->scheme != "https")
      return refused(
          fmt::format("a redirect leads from https to http at {}; it is not followed", address->host));
    const bool same_place =
        address->scheme == first->scheme && address->host == first->host && address->port == first->port;
    const bool send_token = same_place && may_have_token(*first, transport.token);
    auto end = perform(url, *address, send_token, request, transport, receiver);
    if (end.redirect.empty()) return end.got;
    url = std::move(end.redirect);
  }
  return refused(fmt::format("it is redirected more than {} times", kMostRedirects));
}

}  // namespace hyfreedp::datasets
