// indicators contract: the reason why a document is refused, and the place in it
#ifndef INDICATORS_CONTRACT_REFUSAL_HPP
#define INDICATORS_CONTRACT_REFUSAL_HPP

#include <string>
#include <string_view>
#include <vector>

namespace indicators {

struct refusal {
    std::string path;    // "$.@result.rate"; "$" is the document as a whole
    std::string reason;  // a sentence without its full stop: what is wrong, and what to do

    [[nodiscard]] std::string text() const { return path + ": " + reason; }
};
using refusals = std::vector<refusal>;

// The path of a member, or of an item of a list.
std::string member_path(const std::string& of, std::string_view key);
inline std::string item_path(const std::string& of, std::size_t place) {
    return of + "[" + std::to_string(place) + "]";
}
// A text for a message: in one line, in quotes, shortened to a line.
std::string shown(std::string_view text);
// "$.a: no; $.b: no", with at most twenty reasons.
std::string joined(const refusals& all);

}  // namespace indicators

#endif
