// check: --arg out=32 --arg in=32:index --global 32 --local 8
// The address is computed as an integer, in bytes, from that of the buffer.
kernel void backwards(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    uintptr_t end = (uintptr_t)in + 32 * sizeof(int);
    global const int *p = (global const int *)(end - (i + 1) * sizeof(int));
    out[i] = *p;
}
