// check: --arg out=32 --arg in=32:index --global 32 --local 8
// The lowest bit of the address holds a flag, and is cleared before the access.
kernel void flagged(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    uintptr_t tagged = (uintptr_t)(in + i) | (i & 1);
    global const int *p = (global const int *)(tagged & ~(uintptr_t)1);
    out[i] = tagged & 1 ? -*p : *p;
}
