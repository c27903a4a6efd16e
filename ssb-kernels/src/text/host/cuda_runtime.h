// CUDA C++ on the host: the language and library that a generated kernel uses. The folder that holds this
// file takes the place of CUDA's include folder.
#pragma once
#include "kernel_host.h"

#define __global__
#define __device__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

typedef ssb_uint3 uint3;
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return uint3{x, y, z}; }

#define threadIdx (ssb_position.thread_position_in_threadgroup)
#define blockIdx (ssb_position.threadgroup_position_in_grid)
#define blockDim (ssb_position.threads_per_threadgroup)
#define gridDim (ssb_position.threadgroups_per_grid)
#define warpSize (ssb_position.threads_per_simdgroup)

// The line of the text tells one wait from another.
#define __syncthreads() ssb_cube_barrier(__LINE__, SSB_DEVICE | SSB_SHARED)
#define __syncwarp() ssb_plane_barrier(__LINE__, SSB_DEVICE | SSB_SHARED)
#define __shfl_sync(units, value, lane) ssb_shuffle(__LINE__, value, lane)
#define __shfl_xor_sync(units, value, mask) ssb_shuffle_xor(__LINE__, value, mask)
#define __shfl_up_sync(units, value, delta) ssb_shuffle_up(__LINE__, value, delta)
#define __shfl_down_sync(units, value, delta) ssb_shuffle_down(__LINE__, value, delta)
#define __all_sync(units, value) ssb_all(__LINE__, value)
#define __any_sync(units, value) ssb_any(__LINE__, value)
#define __ballot_sync(units, value) ((unsigned)ssb_ballot(__LINE__, value))

#include "numbers_host.h"

static inline float powf(float x, float y) { return __builtin_powf(x, y); }
static inline float hypotf(float x, float y) { return __builtin_hypotf(x, y); }
static inline float rhypotf(float x, float y) { return 1.0f / __builtin_hypotf(x, y); }
static inline float log1p(float x) { return __builtin_log1pf(x); }
static inline float erf(float x) { return __builtin_erff(x); }

// The fast forms, without their loss.
static inline float __sinf(float x) { return __builtin_sinf(x); }
static inline float __cosf(float x) { return __builtin_cosf(x); }
static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __powf(float x, float y) { return __builtin_powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float __frsqrt_rn(float x) { return 1.0f / __builtin_sqrtf(x); }

static inline int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a * b) >> 32);
}
static inline int __clz(int x) { return ssb_leading_zeros((unsigned)x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline unsigned __brev(unsigned x) { return ssb_reversed(x); }
