// corpus: turns text into token numbers, one for each word and mark: the part that needs the processor.
// Nothing here depends on weir.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_TOKENS_HPP
#define WEIR_EXAMPLES_CORPUS_TOKENS_HPP

#include "characters.hpp"

#include <cstdint>      // for std::int32_t, std::uint64_t
#include <optional>     // for std::optional
#include <string_view>  // for std::string_view

namespace corpus {

using token = std::int32_t;

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
    [[nodiscard]] character peek() const noexcept { return first_of(text_); }

    std::string_view text_;
};

}  // namespace corpus

#endif
