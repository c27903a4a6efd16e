// What a kernel's text and the code that runs it on the host share. A unit of a cube is a fibre; every
// wait (a barrier, a plane operation) goes through here.
#pragma once

struct ssb_uint3 {
    unsigned x, y, z;
};

// The position of the unit that runs. The names are Metal's.
struct ssb_position_t {
    ssb_uint3 thread_position_in_grid;
    ssb_uint3 thread_position_in_threadgroup;
    ssb_uint3 threadgroup_position_in_grid;
    ssb_uint3 threadgroups_per_grid;
    ssb_uint3 threads_per_threadgroup;
    unsigned thread_index_in_threadgroup;
    unsigned thread_index_in_simdgroup;
    unsigned simdgroup_index_in_threadgroup;
    unsigned threads_per_simdgroup;
};

// Memory whose accesses a barrier orders.
enum { SSB_DEVICE = 1, SSB_SHARED = 2 };

// The largest number of units in a plane, and the bytes a unit can pass to the others.
enum { SSB_PLANE_MAX = 64, SSB_PLANE_VALUE = 16 };

extern "C" {
extern ssb_position_t ssb_position;
// Waits for every unit of the cube. `site` tells the places in the text apart.
void ssb_cube_barrier(unsigned site, unsigned memory);
// Waits for every unit of the plane.
void ssb_plane_barrier(unsigned site, unsigned memory);
// Gives a value to the plane and returns the values of all its units, SSB_PLANE_VALUE bytes apart.
// `units` becomes the number of units in this plane.
const unsigned char* ssb_plane_values(unsigned site, const void* mine, unsigned bytes, unsigned* units);
}

#define SSB_HIDDEN_ACCESS static inline __attribute__((no_sanitize("thread")))

template <class T> struct ssb_plane {
    const unsigned char* values;
    unsigned units;

    SSB_HIDDEN_ACCESS ssb_plane of(unsigned site, T mine) {
        static_assert(sizeof(T) <= SSB_PLANE_VALUE, "too large to pass between units");
        ssb_plane plane;
        plane.values = ssb_plane_values(site, &mine, sizeof(T), &plane.units);
        return plane;
    }

    __attribute__((no_sanitize("thread"))) T at(unsigned lane) const {
        T value;
        __builtin_memcpy(&value, values + lane * SSB_PLANE_VALUE, sizeof(T));
        return value;
    }

    // The value of `lane`, or of this unit where there is no such lane.
    T from(unsigned lane) const {
        return at(lane < units ? lane : ssb_position.thread_index_in_simdgroup);
    }
};

template <class T> SSB_HIDDEN_ACCESS T ssb_shuffle(unsigned site, T value, unsigned lane) {
    return ssb_plane<T>::of(site, value).from(lane);
}

template <class T> SSB_HIDDEN_ACCESS T ssb_shuffle_xor(unsigned site, T value, unsigned mask) {
    return ssb_plane<T>::of(site, value).from(ssb_position.thread_index_in_simdgroup ^ mask);
}

template <class T> SSB_HIDDEN_ACCESS T ssb_shuffle_up(unsigned site, T value, unsigned delta) {
    // Below lane 0 the difference wraps to a lane that does not exist.
    return ssb_plane<T>::of(site, value).from(ssb_position.thread_index_in_simdgroup - delta);
}

template <class T> SSB_HIDDEN_ACCESS T ssb_shuffle_down(unsigned site, T value, unsigned delta) {
    return ssb_plane<T>::of(site, value).from(ssb_position.thread_index_in_simdgroup + delta);
}

SSB_HIDDEN_ACCESS unsigned long long ssb_ballot(unsigned site, bool value) {
    ssb_plane<bool> plane = ssb_plane<bool>::of(site, value);
    unsigned long long bits = 0;
    for (unsigned lane = 0; lane < plane.units; ++lane)
        bits |= (unsigned long long)(plane.at(lane) ? 1 : 0) << lane;
    return bits;
}

SSB_HIDDEN_ACCESS bool ssb_all(unsigned site, bool value) {
    ssb_plane<bool> plane = ssb_plane<bool>::of(site, value);
    bool all = true;
    for (unsigned lane = 0; lane < plane.units; ++lane)
        all = all && plane.at(lane);
    return all;
}

SSB_HIDDEN_ACCESS bool ssb_any(unsigned site, bool value) {
    return ssb_ballot(site, value) != 0;
}

// Calls a kernel with arguments that are given as addresses: the buffer itself for a pointer or a
// reference, the place of the value for everything else.
template <class T> struct ssb_argument {
    static T get(void* address) { return *(T*)address; }
};
template <class T> struct ssb_argument<T*> {
    static T* get(void* address) { return (T*)address; }
};
template <class T> struct ssb_argument<T&> {
    static T& get(void* address) { return *(T*)address; }
};
template <unsigned... I> struct ssb_indices {};
template <unsigned N, unsigned... I> struct ssb_count : ssb_count<N - 1, N - 1, I...> {};
template <unsigned... I> struct ssb_count<0, I...> {
    typedef ssb_indices<I...> type;
};

template <class... A, unsigned... I>
SSB_HIDDEN_ACCESS void ssb_call_each(void (*kernel)(A...), void** arguments, ssb_indices<I...>) {
    kernel(ssb_argument<A>::get(arguments[I])...);
}

template <unsigned N, class... A> SSB_HIDDEN_ACCESS void ssb_call(void (*kernel)(A...), void* (&arguments)[N]) {
    static_assert(sizeof...(A) == N, "the kernel takes another number of arguments");
    ssb_call_each(kernel, arguments, typename ssb_count<N>::type());
}
