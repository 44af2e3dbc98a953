// indicators contract: the events of nlohmann's reader, and checks of what it would accept
#include "indicators/contract/json_text.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace indicators {

namespace {

class builder : public nlohmann::json_sax<json> {
  public:
    explicit builder(std::size_t most_levels) : most_levels_(most_levels) {}

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
            too_large(std::to_string(value));
        return put(value);
    }
    // Whole numbers beyond 64 bits come here, too.
    bool number_float(number_float_t value, const string_t& text) override {
        if (text.find_first_of(".eE") == text.npos) too_large(text);
        return put(value);
    }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }  // JSON text has no binary values

    bool start_object(std::size_t /*size*/) override { return open(json::object()); }
    bool key(string_t& name) override {
        level& here = open_.back();
        if (!here.keys.insert(name).second)
            refusals_.push_back(
                {member_path(here.path, name), "the key is there twice in one object; leave one"});
        here.key = std::move(name);
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*size*/) override { return open(json::array()); }
    bool end_array() override { return close(); }

    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& error) override {
        error_at_ = position;
        error_ = error.what();
        return false;
    }

    [[nodiscard]] bool is_whole() const { return is_whole_; }
    [[nodiscard]] std::size_t error_at() const { return error_at_; }
    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] json& document() { return document_; }
    [[nodiscard]] indicators::refusals& found() { return refusals_; }
    [[nodiscard]] bool is_too_deep() const { return is_too_deep_; }
    [[nodiscard]] std::size_t most_levels() const { return most_levels_; }

  private:
    struct level {
        json* value;
        std::string path;
        std::string key = {};
        std::set<std::string> keys = {};
    };

    [[nodiscard]] std::string path() const {
        if (open_.empty()) return "$";
        const level& here = open_.back();
        return here.value->is_array() ? item_path(here.path, here.value->size())
                                      : member_path(here.path, here.key);
    }
    void too_large(const std::string& number) {
        refusals_.push_back(
            {path(), number + " is more than 64 bits hold; write it as a text, or with a fraction"});
    }
    json* place(json value) {
        if (open_.empty()) {
            document_ = std::move(value);
            return &document_;
        }
        level& here = open_.back();
        if (here.value->is_array()) {
            here.value->push_back(std::move(value));
            return &here.value->back();
        }
        auto& members = here.value->get_ref<json::object_t&>();
        members.push_back({here.key, std::move(value)});  // not [], which searches all members
        return &members.back().second;
    }
    bool put(json value) {
        place(std::move(value));
        is_whole_ = open_.empty();
        return true;
    }
    bool open(json value) {
        if (open_.size() >= most_levels_) {
            is_too_deep_ = true;
            return false;
        }
        std::string here = path();
        open_.push_back({place(std::move(value)), std::move(here)});
        return true;
    }
    bool close() {
        open_.pop_back();
        is_whole_ = open_.empty();
        return true;
    }

    const std::size_t most_levels_;
    json document_;
    std::vector<level> open_;  // members of an object move when it grows, but an open level does not grow
    indicators::refusals refusals_;
    bool is_whole_ = false;
    bool is_too_deep_ = false;
    std::size_t error_at_ = 0;
    std::string error_;
};

constexpr std::string_view blanks = " \t\r\n";

std::string line_of(std::string_view text, std::size_t place) {
    return "line " + std::to_string(1 + std::count(text.begin(),
                                                   text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

// "NaN", "Infinity" or "-Infinity", if this is the text at which reading stopped.
std::string no_number_at(std::string_view text, std::size_t place) {
    const std::size_t from = text.find_last_of(":,[ \t\n", place);
    const std::string_view rest = text.substr(from == text.npos ? 0 : from + 1);
    for (const char* word : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"})
        if (rest.starts_with(word)) return word;
    return {};
}

std::string why_no_json(std::string_view text, const builder& read) {
    const std::size_t place = std::min(text.size(), read.error_at() > 0 ? read.error_at() - 1 : 0);
    if (read.is_too_deep()) return "has more than " + std::to_string(read.most_levels()) + " levels";
    if (read.is_whole()) {
        const std::size_t end = text.find_last_of("}]", place > 0 ? place - 1 : 0);
        const std::size_t more =
            std::min(text.find_first_not_of(blanks, end == text.npos ? 0 : end + 1), text.size());
        const std::string_view rest = text.substr(more);
        return std::string(rest.starts_with('{') ? "there is a second document"
                                                 : "there is text behind the document") +
               ", at " + line_of(text, more) + ": " + shown(rest) +
               "; print one document on standard output, and all else on standard error";
    }
    const std::size_t first = text.find_first_not_of(blanks);
    if (text[first] != '{' && text[first] != '[' && text[first] != '"') {
        const bool any = text.find('{', first) != text.npos;
        return std::string(any ? "there is text before the document: " : "is no JSON document: ") +
               shown(text.substr(first, text.find('\n', first) - first)) +
               "; print one document on standard output, and all else on standard error";
    }
    const std::string word = no_number_at(text, place);
    if (!word.empty())
        return line_of(text, place) + ": " + word +
               " is no JSON number; a result that isn't known is no result";
    const bool is_cut = read.error().find("unexpected end of input") != std::string::npos ||
                        read.error().find("missing closing quote") != std::string::npos;
    if (is_cut) return "the document ends in the middle, at " + line_of(text, text.size() - 1);
    if (read.error().find("out_of_range") != std::string::npos)
        return line_of(text, place) + ": a number is larger than 64 bits hold";
    std::string what = read.error();
    if (const std::size_t colon = what.find(": "); colon != what.npos) what = what.substr(colon + 2);
    return "is no JSON, at " + line_of(text, place) + " near " +
           shown(text.substr(place < 10 ? 0 : place - 10, 30)) + ": " + what;
}

}  // namespace

std::optional<std::size_t> first_byte_that_is_no_text(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t place) {
            return place < text.size() ? static_cast<unsigned char>(text[place]) : 0U;
        };
        const unsigned first = byte(i);
        // The Unicode Standard, table 3-7: the number of following bytes, and the range of the first one.
        unsigned more = 0;
        unsigned low = 0x80;
        unsigned high = 0xBF;
        if (first < 0x80) {
            ++i;
            continue;
        }
        if (first >= 0xC2 && first <= 0xDF) more = 1;
        if (first >= 0xE0 && first <= 0xEF) more = 2;
        if (first >= 0xF0 && first <= 0xF4) more = 3;
        if (first == 0xE0) low = 0xA0;
        if (first == 0xED) high = 0x9F;
        if (first == 0xF0) low = 0x90;
        if (first == 0xF4) high = 0x8F;
        bool good = more > 0 && byte(i + 1) >= low && byte(i + 1) <= high;
        for (unsigned k = 2; k <= more; ++k) good = good && byte(i + k) >= 0x80 && byte(i + k) <= 0xBF;
        if (!good) return i;
        i += more + 1;
    }
    return std::nullopt;
}

std::string text_of_json(const json& document) {
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

read_json read_json_text(std::string_view text, std::size_t most_levels) {
    read_json result;
    const auto refuse = [&](const std::string& reason) {
        result.refusals.insert(result.refusals.begin(), {"$", reason});
        return result;
    };
    if (const auto bad = first_byte_that_is_no_text(text))
        return refuse("byte " + std::to_string(*bad) + " is no UTF-8: " + shown(text.substr(*bad, 8)));
    if (text.find_first_not_of(blanks) == text.npos)
        return refuse("nothing was printed; an indicator prints one JSON document on standard output");
    if (text.starts_with("\xEF\xBB\xBF"))
        return refuse("there is a byte-order mark before the document; write UTF-8 without it");
    if (const std::size_t zero = text.find('\0'); zero != text.npos)
        return refuse("byte " + std::to_string(zero) + " is a zero, which JSON doesn't have");
    builder read(most_levels);
    const bool good = json::sax_parse(text.begin(), text.end(), &read);
    result.refusals = std::move(read.found());
    if (!good) return refuse(why_no_json(text, read));
    result.document = std::move(read.document());
    result.is_json = true;
    return result;
}

}  // namespace indicators
