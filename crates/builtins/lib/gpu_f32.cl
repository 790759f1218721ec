// Functions of float for which a GPU has an instruction that is precise enough. They replace those of the same names.
//
// In: floats; out: rsqrt within 1 ULP, as the instruction's error is below 2^-22.9.

#define FN __attribute__((overloadable))

FN float rsqrt(float x)
{
    return native_rsqrt(x);
}
