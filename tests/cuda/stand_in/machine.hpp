// The machine behind the stand-in's functions: devices, streams, memory, and the threads that do the work.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_CUDA_STAND_IN_MACHINE_HPP
#define WEIR_TESTS_CUDA_STAND_IN_MACHINE_HPP

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "the stand-in defines the plain names: compile without CUDA_API_PER_THREAD_DEFAULT_STREAM"
#endif

#include "control.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace stand_in::detail {

// How a call ends early.
struct refusal {
    cudaError_t code;
};

// What copies in one direction share: one at a time, on the device's clock and in real time.
class engine {
  public:
    // Takes the first gap after `ready` that is long enough; returns its end. No time before `now` matters.
    duration reserve(duration ready, duration length, duration now);

    std::chrono::steady_clock::time_point free_at{};

  private:
    std::map<duration, duration> busy_;  // from, until
};

struct device {
    cudaError_t error = cudaSuccess;
    bool has_context = false;  // some call needed it
    std::size_t memory = SIZE_MAX;
    std::size_t used = 0, most_used = 0;  // freed in a stream's order: until that is done
    engine to_device, from_device;
};

struct stream;
struct capture;

enum class place { page_locked, device, pool };

struct aligned_delete {
    void operator()(std::byte* p) const noexcept;
};

struct block {
    std::unique_ptr<std::byte, aligned_delete> bytes;
    std::size_t size;
    place where;
    int device;
    bool allocated = true;  // until it is freed, or cudaFreeAsync was called
    bool freed = false;
    const stream* freed_on = nullptr;  // while it is queued there that it is freed
    int queued = 0;                    // pieces of work that use it
    int running = 0;                   // of those
};

// A piece of work in a stream's queue. One that waits for another stream does nothing else.
struct operation {
    std::function<void()> work{};
    const char* caller_is = nullptr;  // what the runtime must not be called from
    bool host_function = false;
    std::vector<std::shared_ptr<block>> uses{};
    std::shared_ptr<block> frees{};
    cudaError_t fails = cudaSuccess;

    std::shared_ptr<stream> awaited{};
    std::uint64_t awaited_position = 0;

    engine* on = nullptr;
    duration length{0};
    bool waits = false;  // in real time
    duration stamp{0};   // the end of the work before it
    std::uint64_t position = 0;
    int device = 0;
};

struct stream {
    cudaStream_t handle;
    int device;
    bool blocking;  // it and the device's default stream wait for each other
    std::deque<operation> queue{};
    std::uint64_t submitted = 0, done = 0;  // positions: how many pieces of work
    duration end{0};                        // of the last of them, on the device's clock
    bool held = false, has_worker = false, busy = false, destroyed = false;
    std::vector<std::shared_ptr<stream>> waiters{};
    std::shared_ptr<capture> captured{};  // into which its work is put
};

// A graph in the making: what is queued on its streams, in the order of the calls.
struct capture {
    stream* origin;
    cudaStreamCaptureMode mode;
    std::thread::id by = std::this_thread::get_id();
    bool spoilt = false;
    std::vector<operation> nodes{};
};

struct event {
    int device;
    bool timed;
    std::shared_ptr<capture> captured{};
    std::shared_ptr<stream> where{};  // once it was recorded
    std::uint64_t position = 0;
    duration stamp{0};

    bool done() const { return !where || where->done >= position; }
};

struct fault {
    std::string function;  // empty: any
    std::size_t n;         // 0: each
    cudaError_t error;
    bool sticky;
};

// Of each thread that calls.
struct caller {
    std::uint64_t epoch = 0;
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    const char* inside = nullptr;
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
};

// All of it needs the lock, but for what is in `operation::work`.
class machine {
  public:
    static machine& instance();

    machine();
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;
    ~machine();

    std::mutex mutex;
    using lock = std::unique_lock<std::mutex>;

    // --- Calls.
    void enter(const char* called, const void* released);
    caller& here() const;
    void misuse(const std::string& sentence);
    [[noreturn]] void refuse(cudaError_t code, const std::string& sentence);
    void need(bool condition, cudaError_t otherwise = cudaErrorInvalidValue) const;
    device& device_at(int number);
    void need_healthy(int number);
    // The error of the device, as what destroys and frees does so on a poisoned one, too.
    cudaError_t health(int number) { return device_at(number).error; }

    // --- Streams and events.
    std::shared_ptr<stream> add_stream(int device, bool blocking);
    std::shared_ptr<stream> find(cudaStream_t handle);
    std::shared_ptr<stream> find_healthy(cudaStream_t handle);
    void destroy(const std::shared_ptr<stream>& s);
    event& find(cudaEvent_t handle);
    int find(cudaMemPool_t handle);  // its device
    void enqueue(const std::shared_ptr<stream>& s, operation op);
    // A stream that is captured has no work whose end could be asked for: whoever asks spoils the capture.
    void need_uncaptured(const stream& s);
    void spoil(capture& c, const std::string& sentence);
    // Refuses what only puts work into a stream, but can't be put into a graph here.
    void need_no_capture(const stream& s) const;
    // The calling thread's device, for what is made there: from then on it has a context.
    int use_current();
    // What comes after this in the stream waits for the other one to be there.
    void await(const std::shared_ptr<stream>& s, const std::shared_ptr<stream>& other, std::uint64_t position,
               duration stamp);
    void join_default_stream(const std::shared_ptr<stream>& s);
    void synchronize(lock& l, const std::shared_ptr<stream>& s, std::uint64_t position, duration stamp);
    void observe(duration stamp);
    duration length_of(std::size_t bytes) const;

    // --- Memory.
    // In the order of a stream, or at once.
    void* allocate(std::size_t size, place where, int device, const stream* on = nullptr);
    // Refuses what isn't a whole number of bytes of one live allocation; nullptr: pageable memory.
    std::shared_ptr<block> find_bytes(const void* p, std::size_t size);
    // One that can be freed, by its beginning.
    std::shared_ptr<block> find_allocated(void* p);
    void free(block& b);

    // --- Steering.
    void poison(int number, cudaError_t error);
    void drop_queue(stream& s);
    void schedule(const std::shared_ptr<stream>& s);
    void schedule_all();
    void wait_until_idle(lock& l);
    bool reset(lock& l);

    template <class Handle>
    Handle new_handle();
    // Of what was destroyed: it may come back.
    void give_back(const void* handle);

    std::deque<device> devices;                               // engines stay where they are
    std::map<cudaStream_t, std::shared_ptr<stream>> streams;  // also destroyed ones that have work left
    std::vector<std::shared_ptr<stream>> default_streams;
    std::shared_ptr<stream> late;  // host functions that were put aside
    std::map<cudaEvent_t, event> events;
    std::map<cudaMemPool_t, int> pools;  // their devices
    std::map<const std::byte*, std::shared_ptr<block>> blocks;
    std::vector<std::shared_ptr<capture>> captures;
    std::map<cudaGraph_t, std::vector<operation>> graphs;
    std::map<cudaGraphExec_t, std::vector<operation>> executables;

    model how_long{1e9, duration(0), pace::at_once};
    duration observed{0};  // the host's own time on the devices' clock
    cudaError_t without_device = cudaSuccess;
    bool all_held = false, host_functions_held = false, host_functions_dropped = false, have_pools = true;
    bool captured_elsewhere = false, remembers_not_ready = false, addresses_come_back = false;
    const char* function = "";  // the one that was called last
    std::size_t calls = 0, work_done = 0;
    std::map<std::string, std::size_t, std::less<>> calls_of;
    std::vector<fault> faults;
    std::set<const void*> failed_to_free;
    std::vector<std::string> misuses;
    std::condition_variable changed;
    std::function<void()> end_is_seen;

  private:
    void begin();
    void run_worker();
    bool can_go_on(const std::shared_ptr<stream>& s);
    bool calls_host_function(const std::shared_ptr<stream>& s, const operation& op) const;
    void check_captures();
    void execute(lock& l, const std::shared_ptr<stream>& s);
    void leave(const operation& op);
    std::shared_ptr<block> find_block(const void* p) const;
    void fill_if_freed(block& b);
    void release_old_blocks();

    std::uint64_t epoch_ = 0;
    std::uintptr_t last_handle_ = 0;
    std::vector<std::uintptr_t> old_handles_;  // not used again unless told so: what was destroyed stays so
    std::deque<std::shared_ptr<block>> freed_;
    std::size_t freed_bytes_ = 0;

    std::vector<std::thread> workers_;
    std::deque<std::shared_ptr<stream>> ready_;
    std::condition_variable work_;
    bool host_function_runs_ = false;
    std::vector<std::shared_ptr<stream>> next_host_functions_;  // their streams wait for that one
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

// A function of the runtime. What it releases is told for the case that it fails.
template <class Body>
cudaError_t call_without_device(const char* function, Body body, const void* released = nullptr) {
    machine& m = machine::instance();
    machine::lock l(m.mutex);
    cudaError_t result;
    try {
        m.enter(function, released);
        result = body(m, l);
    } catch (const refusal& r) {
        result = r.code;
    }
    // In CUDA 13 that is no error that one is told of later; before, it was.
    if (result != cudaSuccess && (result != cudaErrorNotReady || m.remembers_not_ready))
        m.here().last_error = result;
    return result;
}

template <class Body>
cudaError_t call(const char* function, Body body, const void* released = nullptr) {
    return call_without_device(
        function,
        [&](machine& m, machine::lock& l) {
            m.need(m.without_device == cudaSuccess, m.without_device);
            return body(m, l);
        },
        released);
}

}  // namespace stand_in::detail

#endif
