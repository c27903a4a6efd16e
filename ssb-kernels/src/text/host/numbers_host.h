// The numeric functions that CUDA C++ and MSL have in common, over the C++ compiler's own. Included once
// in the name space that the language gives them.

#define SSB_UNARY(name, builtin)                                                                   \
    static inline float name(float x) { return __builtin_##builtin##f(x); }
#define SSB_BINARY(name, builtin)                                                                  \
    static inline float name(float x, float y) { return __builtin_##builtin##f(x, y); }

SSB_UNARY(sin, sin)
SSB_UNARY(cos, cos)
SSB_UNARY(tan, tan)
SSB_UNARY(asin, asin)
SSB_UNARY(acos, acos)
SSB_UNARY(atan, atan)
SSB_UNARY(sinh, sinh)
SSB_UNARY(cosh, cosh)
SSB_UNARY(tanh, tanh)
SSB_UNARY(asinh, asinh)
SSB_UNARY(acosh, acosh)
SSB_UNARY(atanh, atanh)
SSB_UNARY(exp, exp)
SSB_UNARY(log, log)
SSB_UNARY(sqrt, sqrt)
SSB_UNARY(floor, floor)
SSB_UNARY(ceil, ceil)
SSB_UNARY(trunc, trunc)
SSB_UNARY(rint, rint)
SSB_UNARY(fabs, fabs)
SSB_UNARY(abs, fabs)
SSB_BINARY(atan2, atan2)
SSB_BINARY(max, fmax)
SSB_BINARY(min, fmin)
#undef SSB_UNARY
#undef SSB_BINARY

static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }

#define SSB_INTEGER(T)                                                                             \
    static inline T max(T a, T b) { return a > b ? a : b; }                                        \
    static inline T min(T a, T b) { return a < b ? a : b; }
SSB_INTEGER(int)
SSB_INTEGER(unsigned)
SSB_INTEGER(long)
SSB_INTEGER(unsigned long)
SSB_INTEGER(long long)
SSB_INTEGER(unsigned long long)
#undef SSB_INTEGER
static inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
static inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
static inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
static inline unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
static inline int abs(int x) { return x < 0 ? -x : x; }

static inline unsigned ssb_leading_zeros(unsigned x) { return x ? __builtin_clz(x) : 32; }
static inline unsigned ssb_trailing_zeros(unsigned x) { return x ? __builtin_ctz(x) : 32; }
static inline unsigned ssb_reversed(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit)
        reversed |= ((x >> bit) & 1u) << (31 - bit);
    return reversed;
}
