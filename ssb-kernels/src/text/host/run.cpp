// Runs a kernel on the host, cube after cube. The units of a cube are fibres that run one at a time and
// change at waits only.
//
// The kernel's text is compiled with the compiler's hooks for thread checks, which are defined here: they see
// every access to memory before it happens. An access outside of the kernel's buffers stops the run, and so
// do two accesses by different units with nothing between them that orders them.
#include "kernel_host.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>

// The arguments of one launch. The same structure is in object.rs.
struct ssb_launch {
    uint32_t cube_count[3];
    uint32_t cube_dim[3];
    uint32_t plane_size;
    uint32_t shared_bytes;
    void** arguments;
    const uint64_t* argument_bytes;
    uint32_t argument_count;
    char* message;
    uint64_t message_bytes;
};

extern "C" {
ssb_position_t ssb_position;
// A kernel's text finds its shared memory under this name.
alignas(128) unsigned char dynamic_shared_mem[256 * 1024];
// Defined beside each kernel: runs the unit at `ssb_position`.
void ssb_unit(void** arguments);
void ssb_switch(void** save, void* load);
}

#if defined(__APPLE__)
#define SSB_SWITCH ".globl _ssb_switch\n.private_extern _ssb_switch\n_ssb_switch:\n"
#else
#define SSB_SWITCH ".globl ssb_switch\n.hidden ssb_switch\nssb_switch:\n"
#endif

// Saves what a called function must keep, and goes on where another fibre did the same.
#if defined(__x86_64__)
__asm__(".text\n" SSB_SWITCH "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n");
enum { SAVED_WORDS = 8, RETURN_WORD = 6 };
#elif defined(__aarch64__)
__asm__(".text\n.p2align 2\n" SSB_SWITCH "sub sp, sp, #160\n"
        "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
        "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
        "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
        "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
        "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
        "add sp, sp, #160\nret\n");
enum { SAVED_WORDS = 20, RETURN_WORD = 11 };
#else
#error "fibres are written for x86-64 and 64-bit ARM"
#endif

namespace {

enum { STACK_BYTES = 256 * 1024 };

// Units are numbered below IN_PLANE; IN_PLANE + p is several units of plane p, MANY several of any plane.
enum { IN_PLANE = 0x8000, MANY = 0xffff };
constexpr uint64_t STACK_MARK = 0x7374616b6d61726b;

enum State : uint8_t { READY, AT_CUBE_BARRIER, AT_PLANE, DONE };

struct Fibre {
    void* stack_pointer;
    State state;
    uint32_t site;
    uint32_t plane_order;
};

const ssb_launch* launch;
Fibre* fibres;
uint32_t units;
uint32_t running;
char* stacks;
void* scheduler;
bool failed;
// 1-based, so that no access has cube 0.
uint32_t cube;
// Barriers passed in this cube, by the memory they order.
uint32_t device_order;
uint32_t shared_order;
unsigned memory_of_wait;
unsigned char (*plane_slots)[2][SSB_PLANE_MAX * SSB_PLANE_VALUE];
uint32_t* plane_turn;

void describe(const char* format, ...) __attribute__((format(printf, 1, 2)));
void describe(const char* format, ...) {
    if (failed)
        return;
    failed = true;
    va_list list;
    va_start(list, format);
    vsnprintf(launch->message, launch->message_bytes, format, list);
    va_end(list);
}

uint32_t plane_of(uint32_t unit) {
    return unit & IN_PLANE ? unit & ~(uint32_t)IN_PLANE : unit / launch->plane_size;
}

void leave() { ssb_switch(&fibres[running].stack_pointer, scheduler); }

// Leaves the running unit for good.
[[noreturn]] void abandon() {
    for (;;)
        leave();
}

#include "memory_checks.h"

void wait() {
    settle_contested();
    leave();
}

void begin_fibre() {
    ssb_unit(launch->arguments);
    fibres[running].state = DONE;
    wait();
}

char* stack_of(uint32_t unit) { return stacks + (uint64_t)unit * STACK_BYTES; }

void prepare(uint32_t unit) {
    char* low = stack_of(unit);
    memcpy(low, &STACK_MARK, sizeof STACK_MARK);
    // As if `begin_fibre` had been called: 8 below a multiple of 16 on x86-64, a multiple of 16 on ARM.
    void** words = (void**)(low + STACK_BYTES) - SAVED_WORDS;
    memset(words, 0, SAVED_WORDS * sizeof(void*));
    words[RETURN_WORD] = (void*)&begin_fibre;
    fibres[unit] = Fibre{words, READY, 0, 0};
}

void resume(uint32_t unit, const uint32_t* at) {
    const uint32_t* dim = launch->cube_dim;
    ssb_position_t& p = ssb_position;
    running = unit;
    ssb_uint3 in_cube = {unit % dim[0], unit / dim[0] % dim[1], unit / dim[0] / dim[1]};
    p.thread_position_in_threadgroup = in_cube;
    p.thread_position_in_grid = {at[0] * dim[0] + in_cube.x, at[1] * dim[1] + in_cube.y,
                                 at[2] * dim[2] + in_cube.z};
    p.thread_index_in_threadgroup = unit;
    p.thread_index_in_simdgroup = unit % launch->plane_size;
    p.simdgroup_index_in_threadgroup = plane_of(unit);
    ssb_switch(&scheduler, fibres[unit].stack_pointer);
}

// Lets the units from `first` to `last` go on if all of them wait at one place.
bool release(uint32_t first, uint32_t last, State waiting) {
    for (uint32_t unit = first; unit < last; ++unit)
        if (fibres[unit].state != waiting || fibres[unit].site != fibres[first].site)
            return false;
    for (uint32_t unit = first; unit < last; ++unit)
        fibres[unit].state = READY;
    return true;
}

void describe_stuck() {
    uint32_t waiting = 0, returned = 0, site = 0, other_site = 0, first = 0, first_returned = 0;
    bool plane = false;
    for (uint32_t unit = units; unit-- > 0;) {
        const Fibre& fibre = fibres[unit];
        if (fibre.state == DONE) {
            ++returned;
            first_returned = unit;
            continue;
        }
        ++waiting;
        plane = plane || fibre.state == AT_PLANE;
        other_site = site != 0 && site != fibre.site ? site : other_site;
        site = fibre.site;
        first = unit;
    }
    const char* kind = plane ? "plane operation" : "barrier";
    if (other_site != 0)
        describe("divergent %s in cube %u: %u units wait, some at line %u of the text and some at line %u "
                 "(%u units have returned)",
                 kind, cube - 1, waiting, site, other_site, returned);
    else
        describe("divergent %s in cube %u: %u units wait at line %u of the text (unit %u is one), %u units "
                 "do not (unit %u has returned)",
                 kind, cube - 1, waiting, site, first, returned, first_returned);
}

void run_cube(const uint32_t* at) {
    ssb_position.threadgroup_position_in_grid = {at[0], at[1], at[2]};
    device_order = shared_order = 0;
    // No value of shared memory passes from cube to cube: what is read before it is written is NaN.
    memset(dynamic_shared_mem, 0xff, launch->shared_bytes);
    memset(plane_turn, 0, units * sizeof *plane_turn);
    for (uint32_t unit = 0; unit < units; ++unit)
        prepare(unit);
    for (;;) {
        uint32_t done = 0;
        for (uint32_t unit = 0; unit < units; ++unit) {
            if (fibres[unit].state == READY)
                resume(unit, at);
            if (failed)
                return;
            done += fibres[unit].state == DONE;
        }
        if (done == units)
            break;
        bool moved = false;
        for (uint32_t first = 0; first < units; first += launch->plane_size) {
            uint32_t last = first + launch->plane_size < units ? first + launch->plane_size : units;
            moved = release(first, last, AT_PLANE) || moved;
        }
        if (!moved && release(0, units, AT_CUBE_BARRIER)) {
            device_order += (memory_of_wait & SSB_DEVICE) != 0;
            shared_order += (memory_of_wait & SSB_SHARED) != 0;
            moved = true;
        }
        if (!moved) {
            describe_stuck();
            return;
        }
    }
    for (uint32_t unit = 0; unit < units; ++unit)
        if (memcmp(stack_of(unit), &STACK_MARK, sizeof STACK_MARK) != 0)
            describe("unit %u needs more than %d bytes of local memory", unit, STACK_BYTES);
}

bool prepare_memory() {
    regions = (Region*)calloc(launch->argument_count + 1, sizeof(Region));
    fibres = (Fibre*)calloc(units, sizeof(Fibre));
    plane_slots = (unsigned char(*)[2][SSB_PLANE_MAX * SSB_PLANE_VALUE])calloc(plane_of(units - 1) + 1, sizeof *plane_slots);
    plane_turn = (uint32_t*)calloc(units, sizeof *plane_turn);
    void* mapped = mmap(nullptr, (uint64_t)units * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANON, -1, 0);
    stacks = mapped == MAP_FAILED ? nullptr : (char*)mapped;
    region_count = recent = 0;
    contested.region = nullptr;
    if (!regions || !fibres || !plane_slots || !plane_turn || !stacks)
        return false;
    for (uint32_t i = 0; i < launch->argument_count; ++i)
        add_region(launch->arguments[i], launch->argument_bytes[i], false, "argument", i);
    add_region(dynamic_shared_mem, launch->shared_bytes, true, "shared memory", 0);
    for (uint32_t i = 0; i < region_count; ++i)
        if (!regions[i].words)
            return false;
    return true;
}

void release_memory() {
    for (uint32_t i = 0; i < region_count; ++i)
        free(regions[i].words);
    free(regions);
    free(fibres);
    free(plane_slots);
    free(plane_turn);
    if (stacks)
        munmap(stacks, (uint64_t)units * STACK_BYTES);
    regions = nullptr;
    fibres = nullptr;
    plane_slots = nullptr;
    plane_turn = nullptr;
    stacks = nullptr;
    region_count = 0;
}

} // namespace

extern "C" {

void ssb_cube_barrier(unsigned site, unsigned memory) {
    fibres[running].state = AT_CUBE_BARRIER;
    fibres[running].site = site;
    memory_of_wait = memory;
    wait();
}

void ssb_plane_barrier(unsigned site, unsigned memory) {
    fibres[running].state = AT_PLANE;
    fibres[running].site = site;
    wait();
    fibres[running].plane_order += memory != 0;
}

const unsigned char* ssb_plane_values(unsigned site, const void* mine, unsigned bytes, unsigned* count) {
    uint32_t first = plane_of(running) * launch->plane_size;
    // A unit is at most one operation ahead of its plane, so two sets of slots are enough.
    unsigned char* slots = plane_slots[plane_of(running)][plane_turn[running]++ % 2];
    memcpy(slots + (running - first) * SSB_PLANE_VALUE, mine, bytes);
    *count = units - first < launch->plane_size ? units - first : launch->plane_size;
    ssb_plane_barrier(site, 0);
    return slots;
}

// Returns 0, or 1 with a message.
__attribute__((visibility("default"))) int ssb_run(const ssb_launch* given) {
    launch = given;
    failed = false;
    units = given->cube_dim[0] * given->cube_dim[1] * given->cube_dim[2];
    const uint32_t* count = given->cube_count;
    ssb_position.threadgroups_per_grid = {count[0], count[1], count[2]};
    ssb_position.threads_per_threadgroup = {given->cube_dim[0], given->cube_dim[1], given->cube_dim[2]};
    ssb_position.threads_per_simdgroup = given->plane_size;
    if (given->plane_size == 0 || given->plane_size > SSB_PLANE_MAX ||
        given->shared_bytes > sizeof dynamic_shared_mem || units == 0 || units >= IN_PLANE)
        describe("the host run has planes of up to %d units, cubes of up to %d units and %llu bytes of shared "
                 "memory",
                 SSB_PLANE_MAX, IN_PLANE - 1, (unsigned long long)sizeof dynamic_shared_mem);
    else if (!prepare_memory())
        describe("not enough memory for the units' stacks and the checks of memory accesses");
    cube = 0;
    for (uint32_t z = 0; z < count[2] && !failed; ++z)
        for (uint32_t y = 0; y < count[1] && !failed; ++y)
            for (uint32_t x = 0; x < count[0] && !failed; ++x) {
                const uint32_t at[3] = {x, y, z};
                ++cube;
                run_cube(at);
            }
    release_memory();
    return failed ? 1 : 0;
}

// The compiler's hooks.
#define SSB_HOOK(size)                                                                             \
    void __tsan_read##size(void* p) { access(p, size, false); }                                    \
    void __tsan_write##size(void* p) { access(p, size, true); }                                    \
    void __tsan_unaligned_read##size(void* p) { access(p, size, false); }                          \
    void __tsan_unaligned_write##size(void* p) { access(p, size, true); }
SSB_HOOK(1)
SSB_HOOK(2)
SSB_HOOK(4)
SSB_HOOK(8)
SSB_HOOK(16)
void __tsan_read_range(void* p, unsigned long size) { access(p, size, false); }
void __tsan_write_range(void* p, unsigned long size) { access(p, size, true); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
}
