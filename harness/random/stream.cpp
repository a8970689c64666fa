#include "harness/random/stream.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <openssl/evp.h>
#include <string>
#include <sys/random.h>

#include "harness/random/normal_pass.h"

namespace hyfreedp::random {
namespace {

constexpr std::uint64_t kWordsPerBlock = 8;
constexpr std::size_t kChunkWords = 2048;  // 16 KiB: stays in the first-level cache

static_assert(std::endian::native == std::endian::little,
              "words of the keystream are read as they lie in memory");

// Fetching the algorithm takes longer than a short stream, so it is done once.
const EVP_CIPHER* chacha20() {
  static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "ChaCha20", nullptr);
  HYFREEDP_CHECK(cipher != nullptr, "OpenSSL has no ChaCha20");
  return cipher;
}

// OpenSSL's initial vector: block counter, then the nonce, both little endian.
std::array<unsigned char, 16> initial_vector(const Address& address, std::uint32_t block) {
  std::array<unsigned char, 16> vector{};
  const auto put = [&vector](std::size_t at, std::uint32_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) vector[at + i] = static_cast<unsigned char>(value >> (8 * i));
  };
  put(0, block, 4);
  put(4, address.step, 4);
  put(8, address.tensor, 2);
  put(10, static_cast<std::uint32_t>(address.purpose), 1);
  put(11, address.lane, 1);
  put(12, address.attempt, 2);
  return vector;
}

// The keystream of one address from a whole block on; wiped when it goes.
class Keystream {
 public:
  Keystream(const Key& key, const Address& address, std::uint64_t block) : context_(EVP_CIPHER_CTX_new()) {
    const auto vector = initial_vector(address, static_cast<std::uint32_t>(block));
    HYFREEDP_CHECK(context_ && EVP_EncryptInit_ex2(context_.get(), chacha20(), key.bytes.data(),
                                                   vector.data(), nullptr) == 1,
                   "OpenSSL cannot start ChaCha20");
  }

  void read(std::span<std::uint64_t> words) {
    auto* bytes = reinterpret_cast<unsigned char*>(words.data());
    std::memset(bytes, 0, words.size_bytes());
    int length = static_cast<int>(words.size_bytes());
    HYFREEDP_CHECK(EVP_EncryptUpdate(context_.get(), bytes, &length, bytes, length) == 1, "ChaCha20 failed");
  }

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

// Calls consume(offset, words) with consecutive pieces of words [first, first + count). Every piece
// but the last has an even number of words, so that pairs stay together when `first` is even.
template <class Consume>
void for_each_chunk(const Key& key, const Address& address, std::uint64_t first, std::uint64_t count,
                    Consume&& consume) {
  HYFREEDP_CHECK(first <= kAddressLength && count <= kAddressLength - first,
                 "a stream's address is exhausted");
  if (count == 0) return;
  alignas(64) std::array<std::uint64_t, kChunkWords> buffer;
  Keystream stream(key, address, first / kWordsPerBlock);
  std::uint64_t skip = first % kWordsPerBlock;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t want = std::min<std::uint64_t>(kChunkWords, skip + (count - done));
    const std::span<std::uint64_t> words(buffer.data(), want);
    stream.read(words);
    consume(done, std::span<const std::uint64_t>(words.subspan(skip)));
    done += want - skip;
    skip = 0;
  }
}

// Calls consume(offset, normals) with consecutive pieces of normals [first, first + count).
template <class Consume>
void for_each_normal_chunk(const Key& key, const Address& address, std::uint64_t first, std::uint64_t count,
                           Consume&& consume) {
  HYFREEDP_CHECK(first <= kAddressLength && count <= kAddressLength - first,
                 "a stream's address is exhausted");
  if (count == 0) return;
  // start at the pair that holds `first`, end with a whole pair
  const std::uint64_t lead = first % 2;
  const std::uint64_t words = (lead + count + 1) / 2 * 2;
  alignas(64) std::array<double, kChunkWords> normals;
  const NormalPass& pass = normal_pass();
  for_each_chunk(
      key, address, first - lead, words, [&](std::uint64_t offset, std::span<const std::uint64_t> piece) {
        pass.transform(piece.data(), piece.size() / 2, normals.data());
        const std::uint64_t begin = offset == 0 ? lead : 0;
        const std::uint64_t end = std::min<std::uint64_t>(piece.size(), lead + count - offset);
        consume(offset + begin - lead, std::span<const double>(normals.data() + begin, end - begin));
      });
}

}  // namespace

Key key_from_seed(std::string_view text) {
  std::string material = "hyfreedp stream key, version 1";
  material += '\0';
  material += text;
  Key key;
  unsigned int length = 0;
  HYFREEDP_CHECK(
      EVP_Digest(material.data(), material.size(), key.bytes.data(), &length, EVP_sha256(), nullptr) == 1,
      "OpenSSL has no SHA-256");
  return key;
}

Result<Key> key_from_entropy() {
  Key key;
  ssize_t got;
  do {
    got = ::getrandom(key.bytes.data(), key.bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(key.bytes.size())) {
    return error(std::string("The system gives no entropy for a run's key (getrandom: ") +
                 std::strerror(errno) + "); without it no noise can be private.");
  }
  return key;
}

void fill_bits(const Key& key, const Address& address, std::uint64_t first, std::span<std::uint64_t> out) {
  for_each_chunk(key, address, first, out.size(),
                 [&](std::uint64_t offset, std::span<const std::uint64_t> words) {
                   std::copy(words.begin(), words.end(), out.begin() + static_cast<std::ptrdiff_t>(offset));
                 });
}

void fill_uniforms(const Key& key, const Address& address, std::uint64_t first, std::span<double> out) {
  for_each_chunk(key, address, first, out.size(),
                 [&](std::uint64_t offset, std::span<const std::uint64_t> words) {
                   for (std::size_t i = 0; i < words.size(); ++i) {
                     out[offset + i] = static_cast<double>(words[i] >> 11) * 0x1p-53;
                   }
                 });
}

void fill_normals(const Key& key, const Address& address, std::uint64_t first, std::span<double> out) {
  for_each_normal_chunk(
      key, address, first, out.size(), [&](std::uint64_t offset, std::span<const double> normals) {
        std::copy(normals.begin(), normals.end(), out.begin() + static_cast<std::ptrdiff_t>(offset));
      });
}

void add_normals(const Key& key, const Address& address, std::uint64_t first, double scale,
                 std::span<float> destination) {
  const auto add = normal_pass().add_float;
  for_each_normal_chunk(key, address, first, destination.size(),
                        [&](std::uint64_t offset, std::span<const double> normals) {
                          add(normals.data(), normals.size(), scale, destination.data() + offset);
                        });
}

void add_normals(const Key& key, const Address& address, std::uint64_t first, double scale,
                 std::span<double> destination) {
  const auto add = normal_pass().add_double;
  for_each_normal_chunk(key, address, first, destination.size(),
                        [&](std::uint64_t offset, std::span<const double> normals) {
                          add(normals.data(), normals.size(), scale, destination.data() + offset);
                        });
}

std::vector<std::int64_t> poisson_sample(const Key& key, const Address& address, std::int64_t population,
                                         double rate) {
  HYFREEDP_CHECK(population >= 0, "a population cannot be negative");
  HYFREEDP_CHECK(rate >= 0.0 && rate <= 1.0, "a sampling rate must lie in [0, 1]");
  std::vector<std::int64_t> included;
  const double expected = rate * static_cast<double>(population);
  included.reserve(
      static_cast<std::size_t>(std::min(static_cast<double>(population), 1.2 * expected + 64.0)));
  if (rate == 1.0) {  // 2^64 does not fit the threshold
    for (std::int64_t i = 0; i < population; ++i) included.push_back(i);
    return included;
  }
  const auto threshold = static_cast<std::uint64_t>(std::ldexp(rate, 64));
  for_each_chunk(key, address, 0, static_cast<std::uint64_t>(population),
                 [&](std::uint64_t offset, std::span<const std::uint64_t> words) {
                   for (std::size_t i = 0; i < words.size(); ++i) {
                     if (words[i] < threshold) included.push_back(static_cast<std::int64_t>(offset + i));
                   }
                 });
  return included;
}

}  // namespace hyfreedp::random
