// indicators record: hashes with OpenSSL
#include "indicators/record/bytes.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace indicators {

namespace {

std::string digits_of(const unsigned char* bytes, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += "0123456789abcdef"[bytes[i] >> 4];
        text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

class sha256 {
  public:
    sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
        if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
            throw std::runtime_error("OpenSSL has no SHA-256");
    }
    void add(const char* bytes, std::size_t size) { EVP_DigestUpdate(context_.get(), bytes, size); }
    std::string digits() {
        std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
        unsigned size = 0;
        EVP_DigestFinal_ex(context_.get(), bytes.data(), &size);
        return digits_of(bytes.data(), size);
    }

  private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_of(std::string_view bytes) {
    sha256 hash;
    hash.add(bytes.data(), bytes.size());
    return hash.digits();
}

std::string sha256_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return {};
    sha256 hash;
    std::array<char, 65536> part{};
    while (in.read(part.data(), part.size()) || in.gcount() > 0)
        hash.add(part.data(), static_cast<std::size_t>(in.gcount()));
    return in.bad() ? std::string() : hash.digits();
}

std::string base64_of(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::string bytes_of_base64(const std::string& text) {
    if (text.empty() || text.size() % 4 != 0) return {};
    std::string bytes(text.size() / 4 * 3, '\0');
    const int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (size < 0) return {};
    // Its count includes padding.
    const std::size_t filled = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
    bytes.resize(static_cast<std::size_t>(size) - filled);
    return bytes;
}

std::string random_digits(int count) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(count));
    if (RAND_bytes(bytes.data(), count) != 1) throw std::runtime_error("OpenSSL has no random numbers");
    return digits_of(bytes.data(), bytes.size());
}

}  // namespace indicators
