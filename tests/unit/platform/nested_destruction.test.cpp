#include <weir/platform/nested_destruction.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <vector>

using weir::detail::nested_destruction;

namespace {

// Writes down its number when it goes, and owns the next one.
class chained {
  public:
    chained(int n, int last, std::vector<int>& gone) : n_(n), gone_(&gone) {
        if (n != last) next_ = new chained(n + 1, last, gone);
    }
    chained(const chained&) = delete;
    chained& operator=(const chained&) = delete;
    ~chained() {
        gone_->push_back(n_);
        if (next_ == nullptr) return;
        nested_destruction here;
        if (here.is_deep()) {
            here.put_off(new rest(next_));
        } else {
            delete next_;
        }
    }

  private:
    class rest final : public nested_destruction::rest {
      public:
        explicit rest(chained* it) noexcept : it_(it) {}
        ~rest() override { delete it_; }

      private:
        chained* it_;
    };

    int n_;
    std::vector<int>* gone_;
    chained* next_ = nullptr;
};

}  // namespace

TEST_CASE(
    "objects whose destruction was put off are destroyed once, before the outermost destructor returns") {
    std::vector<int> gone;
    for (int n : {0, 1, 99, 100, 101, 1000}) {
        gone.clear();
        delete new chained(0, n, gone);
        CHECK(gone.size() == static_cast<std::size_t>(n) + 1);
        CHECK(gone.back() == n);
    }
}
