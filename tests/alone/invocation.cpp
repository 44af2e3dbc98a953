#include <weir/invocation.hpp>

#include <cstdint>

class counts final : public weir::hook {
  public:
    void before(const weir::invocation& call) override { last = call.item(); }
    std::uint64_t last = 0;
};

counts calls;
