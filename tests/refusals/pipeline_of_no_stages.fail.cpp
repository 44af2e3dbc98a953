// expect-error: weir: a pipeline's type is made of stages, and not written by hand
// A pipeline is of its stages, not of its items.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipeline.hpp>

#include <vector>

class loader {
  public:
    explicit loader(weir::pipeline<std::vector<int>> batches) : batches_(batches) {}

  private:
    weir::pipeline<std::vector<int>> batches_;
};

int main() {}
