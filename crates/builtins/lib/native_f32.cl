// Functions of float whose error is the machine's affair: native_exp native_log native_sin …
//
// In: floats; out: what the ordinary functions give, or on a machine with such instructions, what these give. Their
// errors are those of the instructions, after one product: absolute ones of 2^-20 for sine and cosine between -pi and
// pi, and relative ones of 2^-22 for powers of two; e^x and x^y multiply the error by the exponent.

#define FN __attribute__((overloadable))

#ifdef HAS_INSTRUCTIONS
#define NATIVE_EXP2(x) __cl_exp2_near(x)
#define NATIVE_EXP(x) __cl_exp2_near((x) * 0x1.715476p+0f)
#define NATIVE_EXP10(x) __cl_exp2_near((x) * 0x1.a934f0p+1f)
#define NATIVE_LOG2(x) __cl_log2_near(x)
#define NATIVE_LOG(x) (__cl_log2_near(x) * 0x1.62e430p-1f)
#define NATIVE_LOG10(x) (__cl_log2_near(x) * 0x1.344136p-2f)
#define NATIVE_SIN(x) __cl_sin_near(x)
#define NATIVE_COS(x) __cl_cos_near(x)
#define NATIVE_TAN(x) (__cl_sin_near(x) * native_recip(__cl_cos_near(x)))
#define NATIVE_POWR(x, y) __cl_exp2_near((y) * __cl_log2_near(x))
#else
#define NATIVE_EXP2(x) exp2(x)
#define NATIVE_EXP(x) exp(x)
#define NATIVE_EXP10(x) exp10(x)
#define NATIVE_LOG2(x) log2(x)
#define NATIVE_LOG(x) log(x)
#define NATIVE_LOG10(x) log10(x)
#define NATIVE_SIN(x) sin(x)
#define NATIVE_COS(x) cos(x)
#define NATIVE_TAN(x) tan(x)
#define NATIVE_POWR(x, y) powr(x, y)
#endif

FN float native_exp2(float x) { return NATIVE_EXP2(x); }
FN float native_exp(float x) { return NATIVE_EXP(x); }
FN float native_exp10(float x) { return NATIVE_EXP10(x); }
FN float native_log2(float x) { return NATIVE_LOG2(x); }
FN float native_log(float x) { return NATIVE_LOG(x); }
FN float native_log10(float x) { return NATIVE_LOG10(x); }
FN float native_sin(float x) { return NATIVE_SIN(x); }
FN float native_cos(float x) { return NATIVE_COS(x); }
FN float native_tan(float x) { return NATIVE_TAN(x); }
FN float native_powr(float x, float y) { return NATIVE_POWR(x, y); }
