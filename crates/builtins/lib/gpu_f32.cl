// Functions of float for which a GPU has an instruction that is precise enough. They replace those of the same names.
//
// In: floats; out: rsqrt within 1 ULP, as the instruction's error is below 2^-22.9. It takes denormals for zeros, so they
// are scaled, by an even power of two.

#define FN __attribute__((overloadable))

FN float rsqrt(float x)
{
    bool small = __cl_fabs(x) < 0x1p-126f;
    float r = native_rsqrt(small ? x * 0x1p24f : x);
    return small ? r * 0x1p12f : r;
}
