// What tests steer and ask of the stand-in for the CUDA runtime.
//
// It stands at the link seam: a program that is linked with it needs neither toolkit nor GPU. Streams are
// worked off by threads of their own, and device memory is ordinary memory. It does what the runtime's
// documentation says; where that leaves a choice, what shows a mistake; and it counts what nobody may do,
// with a sentence each. From any thread, all of it.
//
// Host functions are called one at a time, as by one thread, whatever streams they are in: one that waits for
// another never ends. As in the real runtime, a copy from the device to pageable memory, and one from host to host, returns only
// when it is done: on a held stream, never. And the default stream waits for the blocking ones, as they do
// for it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_CUDA_STAND_IN_CONTROL_HPP
#define WEIR_TESTS_CUDA_STAND_IN_CONTROL_HPP

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stand_in {

using duration = std::chrono::nanoseconds;

// What memory holds that was never written, and what it holds once it was freed.
inline constexpr std::byte never_written{0xCD};
inline constexpr std::byte already_freed{0xDD};

// Everything back to the beginning, with one device. Waits for what is running. Throws std::logic_error,
// afterwards, if work was still held or waited for something held: it was dropped.
void reset();

// --- Devices.

void set_device_count(int count);

// The runtime finds no device and says why, with cudaErrorNoDevice or cudaErrorInsufficientDriver.
void no_device(cudaError_t why);

void support_memory_pools(bool supported);

// What there is of a device's memory; without this, as much as anybody asks for. Who asks for more gets
// cudaErrorMemoryAllocation. What is freed in the order of a stream is there for others when that stream has
// come there, and at once for what is allocated behind it in the same stream.
void set_device_memory(std::size_t bytes, int device = 0);

// How much of it is used now, and how much was at most.
std::size_t device_memory_used(int device = 0);
std::size_t most_device_memory_used(int device = 0);

// The devices on which the process has a context: those that were made a thread's current one by
// cudaSetDevice, and those that were it when something was called that needs one. Each takes memory.
std::vector<int> contexts();

// cudaErrorNotReady stays a thread's last error until it is asked for, as in toolkits before 13.
void remember_not_ready(bool remembered);

// The handle of what was destroyed, and the address of memory that was freed, is the next one's, as with the
// real runtime: who uses it too late then meets a stranger. Else none is used again, and that is a misuse.
void reuse_addresses(bool reused);

// A thread of somebody else captures a stream into a graph, in the mode `global`. Until that ends, what could
// disturb it is refused to every thread that has not the mode `relaxed`, and is a misuse, as the capture
// would be lost. The documentation names but a few of such calls; here they are all that neither only put
// work into a stream nor only tell something.
void capture_elsewhere(bool captures);

// --- What was done wrong, and what was left behind.

// A sentence for each misuse so far, the name of the call first.
std::vector<std::string> misuses();

enum class after_a_failed_free { listed, left_out };

// A sentence for each stream, event, pool and piece of memory that is alive; where it's asked for, without
// those whose release failed because it was told to.
std::vector<std::string> leaks(after_a_failed_free = after_a_failed_free::listed);

// --- Faults.

// How many calls of the runtime there were, of all functions or of one. Those that only tell about errors
// don't count: cudaGetErrorName, cudaGetErrorString, cudaGetLastError, cudaPeekAtLastError.
std::size_t calls();
std::size_t calls(std::string_view function);

// The n-th call from now (1: the next one), of any function or of one, does nothing and returns the error.
// `sticky`: and the calling thread's device is poisoned.
void fail_call(std::size_t n, cudaError_t error, bool sticky = false);
void fail_call_of(std::string_view function, std::size_t n, cudaError_t error, bool sticky = false);

// Each call of a function fails, from now on.
void fail_each_call_of(std::string_view function, cudaError_t error);

// What was to fail and wasn't called yet won't fail. Tells how many that were.
std::size_t forget_faults();

// From now on each call that has to do with the device returns the error, though what it destroys or frees
// is gone. Queued work is dropped; host functions are never called.
void poison(cudaError_t error, int device = 0);

// --- Work.

// A kernel, which takes `model_time` on the device's clock. Whatever it uses must live until it has run, and
// what it owns must not call the runtime when it goes.
cudaError_t launch(cudaStream_t stream, std::function<void()> kernel, duration model_time = duration(0));

// A kernel that poisons its device.
cudaError_t fail_kernel(cudaStream_t stream, cudaError_t error);

// Host functions are skipped.
void drop_host_functions(bool drop);

// Host functions are put aside, and their streams go on. Then they are called, in the order in which they
// were put aside, by a thread of the stand-in.
void hold_host_functions();
void release_host_functions();

// Called on each thread that is told by cudaEventQuery that the work before an event is done; must not call the
// runtime, nor anything here.
void when_an_end_is_seen(std::function<void()> call);

// How many pieces of work all streams have done.
std::size_t work_done();

// How many pieces of work were recorded into a graph.
std::size_t work_in(cudaGraph_t graph);

// --- Gates. What is running when its stream is held still ends.

void hold(cudaStream_t stream);
void release(cudaStream_t stream);

// Every stream, those of the future, too.
void hold_all();
// Undoes each hold().
void release_all();

// Until all is done that nothing holds.
void wait_until_idle();

// --- Time.

// at_once: work takes time on the device's clock only. in_real_time: a thread waits that long, too.
enum class pace { at_once, in_real_time };

// How long a copy or a fill takes: its bytes at this rate, after the latency.
struct model {
    constexpr model(double rate, duration before, pace how = pace::in_real_time) noexcept
        : bytes_per_second(rate), latency(before), waits(how) {}

    double bytes_per_second;
    duration latency;
    pace waits;
};

// At the beginning, a byte takes a nanosecond, at_once. Holds for what is queued from now on.
void set_model(model how_long);

// When, on the device's clock, the work was over that the event captured; known from its record on.
//
// That clock knows no real time. Work begins when the work before it in its stream is over, and the work
// that the stream was told to wait for, and when its engine is free: the one for copies to the device, or
// the one for copies from it. Copies have an engine in the order of the calls, but a later one goes first
// where it fits in before an earlier one begins. And not before the latest completion that the host had
// observed when it queued the work: by synchronising, by a query, or by a host function.
duration stamp(cudaEvent_t event);

}  // namespace stand_in

#endif
