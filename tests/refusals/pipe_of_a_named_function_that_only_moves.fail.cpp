// expect-error: weir: a stage copies an lvalue, and this one can't be copied
// A function with a name stays with whoever named it, unless it is given away.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipe.hpp>

#include <memory>

class decoder {
  public:
    decoder();
    int operator()(int packet);

  private:
    std::unique_ptr<int> state_;
};

decoder mine;
auto decode = weir::pipe(mine);

int main() {}
