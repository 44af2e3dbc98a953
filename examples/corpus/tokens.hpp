// corpus: text to token numbers, token sequences to a padded matrix: the processor's part of the job.
// Nothing here knows the library.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_TOKENS_HPP
#define WEIR_EXAMPLES_CORPUS_TOKENS_HPP

#include <algorithm>    // for std::copy, std::max
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int32_t, std::uint64_t
#include <optional>     // for std::optional
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace corpus {

using token = std::int32_t;

inline constexpr token padding = 0;  // fills a row behind a sequence's end
inline constexpr token vocabulary = 50'000;

/// Cuts UTF-8 text into words and punctuation, one number each, from 1 to `vocabulary` - 1.
///
/// A word is a run of ASCII letters (in lower case), digits and other alphabets' letters. Each
/// punctuation mark stands alone, and so does each character of the scripts that put no space
/// between words. A byte that is not UTF-8 counts as one punctuation mark. The number of a word is a
/// hash, the same on every machine: no vocabulary has to be built or shared.
///
/// Lifetime: the text outlives this. Cost: allocates nothing.
class tokenizer {
  public:
    explicit tokenizer(std::string_view text) noexcept : text_(text) {}

    /// \returns the next token; nothing at the end of the text
    [[nodiscard]] std::optional<token> next() noexcept {
        character c = peek();
        while (c.kind == char_kind::space) {
            text_.remove_prefix(c.length);
            c = peek();
        }
        if (c.kind == char_kind::end) return std::nullopt;
        std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
        const bool word = c.kind == char_kind::letter;
        do {
            for (const char raw : text_.substr(0, c.length)) {
                const auto byte = static_cast<unsigned char>(raw);
                hash = (hash ^ (byte >= 'A' && byte <= 'Z' ? byte + 32U : byte)) * 1099511628211ULL;
            }
            text_.remove_prefix(c.length);
            c = peek();
        } while (word && c.kind == char_kind::letter);
        hash ^= hash >> 32;  // FNV's low bits alone mix too little for the modulus
        return static_cast<token>(1 + hash % (vocabulary - 1));
    }

  private:
    enum class char_kind { end, space, letter, mark };

    struct character {
        char_kind kind;
        std::size_t length;  // in bytes
    };

    [[nodiscard]] character peek() const noexcept {
        if (text_.empty()) return {char_kind::end, 0};
        const auto first = static_cast<unsigned char>(text_[0]);
        if (first < 0x80) {
            if (first <= ' ' || first == 0x7f) return {char_kind::space, 1};
            const bool alphanumeric = (first >= '0' && first <= '9') || (first >= 'A' && first <= 'Z') ||
                                      (first >= 'a' && first <= 'z');
            return {alphanumeric ? char_kind::letter : char_kind::mark, 1};
        }
        std::size_t length = first >= 0xf0 ? 4U : first >= 0xe0 ? 3U : 2U;
        if (first < 0xc2 || first > 0xf4 || text_.size() < length) return {char_kind::mark, 1};
        std::uint32_t code = first & (0x7fU >> length);
        for (std::size_t i = 1; i < length; ++i) {
            const auto byte = static_cast<unsigned char>(text_[i]);
            if ((byte & 0xc0U) != 0x80U) return {char_kind::mark, 1};
            code = (code << 6) | (byte & 0x3fU);
        }
        // Too long a form, a surrogate, or beyond the last code point.
        if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
            (code >= 0xd800 && code <= 0xdfff)) {
            return {char_kind::mark, 1};
        }
        return {kind_of(code), length};
    }

    static char_kind kind_of(std::uint32_t code) noexcept {
        if (code == 0x85 || code == 0xa0 || code == 0xfeff || code == 0x3000) return char_kind::space;
        if (code >= 0x2000 && code <= 0x200f) return char_kind::space;
        if (code >= 0x2028 && code <= 0x202f) return char_kind::space;
        if (code < 0xaa) return char_kind::mark;                      // controls and signs
        if (code >= 0x2010 && code < 0x2c00) return char_kind::mark;  // punctuation, arrows, mathematics
        if (code >= 0x2e00 && code < 0xac00) return char_kind::mark;  // punctuation, kana, han
        if (code >= 0x1f000) return char_kind::mark;                  // pictures, rarer han
        return char_kind::letter;
    }

    std::string_view text_;
};

/// At most as many tokens as fit a row of a batch.
using sequence = std::vector<token>;

/// A matrix of `rows` by `columns` tokens, row by row; short sequences are padded.
struct batch {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<token> tokens;
    std::size_t padded = 0;  // how many of them are padding

    [[nodiscard]] std::size_t real_tokens() const noexcept { return tokens.size() - padded; }
};

[[nodiscard]] inline batch collate(const std::vector<sequence>& sequences, std::size_t columns) {
    batch b;
    b.rows = sequences.size();
    b.columns = columns;
    b.tokens.assign(b.rows * columns, padding);
    auto row = b.tokens.begin();
    for (const sequence& s : sequences) {
        std::copy(s.begin(), s.end(), row);
        row += static_cast<std::ptrdiff_t>(columns);
        b.padded += columns - s.size();
    }
    return b;
}

/// The rule of thumb by which text is told from anything else.
[[nodiscard]] inline bool looks_binary(std::string_view text) noexcept {
    return text.substr(0, 1024).find('\0') != std::string_view::npos;
}

}  // namespace corpus

#endif
