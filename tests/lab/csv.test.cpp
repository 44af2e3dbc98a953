#include "lab/data/csv.hpp"

#include "lab/data/input_error.hpp"

#include "support/catch.hpp"

#include <string>

namespace {

std::string message_of(const std::string& text) {
    try {
        lab::parse_csv(text, "runs.csv");
    } catch (const lab::input_error& wrong) {
        return wrong.what();
    }
    return "";
}

}  // namespace

TEST_CASE("fields lie between semicolons, and may be quoted") {
    const lab::csv_file file = lab::parse_csv("a;b\n1;\"x;\"\"y\"\"\nz\"\n2;\n", "runs.csv");
    REQUIRE(file.header == std::vector<std::string>{"a", "b"});
    REQUIRE(file.rows.size() == 2);
    CHECK(file.rows[0].fields == std::vector<std::string>{"1", "x;\"y\"\nz"});
    CHECK(file.rows[1].fields == std::vector<std::string>{"2", ""});
    CHECK(file.rows[1].line == 4);  // the field above has a line's end in it
}

TEST_CASE("a byte-order mark, CR LF, empty lines and a missing last line's end are read") {
    const lab::csv_file file = lab::parse_csv(
        "\xEF\xBB\xBF"
        "a;b\r\n1;2\r\n\r\n3;4",
        "runs.csv");
    CHECK(file.header[0] == "a");
    REQUIRE(file.rows.size() == 2);
    CHECK(file.rows[1].fields == std::vector<std::string>{"3", "4"});
    CHECK(file.rows[1].line == 4);
}

TEST_CASE("what is written is read again") {
    const std::vector<std::string> fields{"a;b", "say \"x\"", "two\nlines", "", "plain"};
    const lab::csv_file file = lab::parse_csv("1;2;3;4;5\n" + lab::csv_line(fields), "x");
    REQUIRE(file.rows.size() == 1);
    CHECK(file.rows[0].fields == fields);
}

TEST_CASE("what is wrong with a file is told with its line") {
    CHECK(message_of("a,b\n1,2\n") ==
          "runs.csv:1: the columns are separated by commas; write semicolons (and a point as decimal sign)");
    CHECK(message_of("a\tb\n1\t2\n").find("runs.csv:1: the columns are separated by tabs") == 0);
    CHECK(message_of("") == "runs.csv: is empty; its first line has to name the columns");
    CHECK(message_of("\na;b\n") == "runs.csv:1: the first line is empty; it has to name the columns");
    CHECK(message_of("a;b\n1;2\n3\n") == "runs.csv:3: there are 1 fields, and 2 columns in the first line");
    CHECK(message_of("a;a\n1;2\n") == "runs.csv:1: two columns are called 'a'");
    CHECK(message_of("a;\n1;2\n") == "runs.csv:1: a column has no name; the first line names them all");
    CHECK(message_of("a;b\n1;\"2\n") == "runs.csv:2: a quote is opened here and never closed");
    CHECK(message_of("a;b\n1;\"2\"x\n").find("runs.csv:2: there is text behind a closing quote") == 0);
}

TEST_CASE("a file that isn't there is named") {
    CHECK_THROWS_WITH(lab::read_csv("no/such.csv"),
                      "no/such.csv: can't be opened; is there a file of that name that you may read?");
}
