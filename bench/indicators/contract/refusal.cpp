// indicators contract: paths and texts of messages
#include "indicators/contract/refusal.hpp"

#include <algorithm>

namespace indicators {

std::string member_path(const std::string& of, std::string_view key) {
    const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '@';
    });
    return plain ? of + "." + std::string(key) : of + "[" + shown(key) + "]";
}

std::string shown(std::string_view text) {
    constexpr std::size_t most = 60;
    std::string result = "\"";
    for (std::size_t i = 0; i < text.size() && i < most; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\n') {
            result += "\\n";
        } else if (byte < 0x20 || byte >= 0x7f) {
            static constexpr char digits[] = "0123456789abcdef";
            result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
        } else {
            result += text[i];
        }
    }
    return result + (text.size() > most ? "...\"" : "\"");
}

std::string joined(const refusals& all) {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) text += (i == 0 ? "" : "; ") + all[i].text();
    if (all.size() > most) text += "; and " + std::to_string(all.size() - most) + " more";
    return text;
}

}  // namespace indicators
