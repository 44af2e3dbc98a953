// expect-error: weir: a stage copies an lvalue, and this one can't be copied
// A function with a name stays with whoever named it, unless it is given away.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/filter.hpp>

#include <memory>

class checker {
  public:
    checker();
    bool operator()(int packet);

  private:
    std::unique_ptr<int> state_;
};

checker mine;
auto check = weir::filter(mine);

int main() {}
