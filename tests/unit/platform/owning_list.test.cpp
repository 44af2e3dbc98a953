#include <weir/platform/owning_list.hpp>

#include "support/catch.hpp"

#include <memory>
#include <string>

using weir::detail::owning_list;

namespace {

// Writes its letter down when it goes.
class letter {
  public:
    letter(char name, std::string& gone) : name_(name), gone_(gone) {}
    letter(const letter&) = delete;
    letter& operator=(const letter&) = delete;
    ~letter() { gone_ += name_; }
    char name() const { return name_; }

  private:
    const char name_;
    std::string& gone_;
};

std::string names_of(const owning_list<letter>& list) {
    std::string names;
    for (const letter* each : list) names += each->name();
    return names;
}

}  // namespace

TEST_CASE("an owning list keeps objects in the order in which they came, and where they are") {
    std::string gone;
    owning_list<letter> list;
    CHECK(list.size() == 0);
    list.push_back(std::make_unique<letter>('a', gone));
    const letter* const first = list[0];
    for (const char name : std::string("bcdefghi")) list.push_back(std::make_unique<letter>(name, gone));
    CHECK(list.size() == 9);
    CHECK(names_of(list) == "abcdefghi");
    CHECK(list[0] == first);
    CHECK(gone.empty());
}

TEST_CASE("an owning list destroys its objects once, the first one first") {
    std::string gone;
    {
        owning_list<letter> list;
        for (const char name : std::string("abc")) list.push_back(std::make_unique<letter>(name, gone));
        list.pop_back();
        CHECK(gone == "c");
        CHECK(names_of(list) == "ab");
    }
    CHECK(gone == "cab");
}

TEST_CASE("reserve keeps the objects of an owning list") {
    std::string gone;
    owning_list<letter> list;
    list.push_back(std::make_unique<letter>('a', gone));
    list.reserve(10);
    list.reserve(2);
    list.push_back(std::make_unique<letter>('b', gone));
    CHECK(names_of(list) == "ab");
}
