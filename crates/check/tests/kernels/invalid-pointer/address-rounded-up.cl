// check: --arg out=48 --arg bytes=64:index --global 48 --local 16
// Addresses are rounded up to the next multiple of 16, and stay inside of the buffer.
kernel void heads(global uint *out, global const uchar *bytes) {
    size_t i = get_global_id(0);
    uintptr_t a = (uintptr_t)(bytes + i);
    a = (a + 15) & ~(uintptr_t)15;
    out[i] = *(global const uint *)a;
}
