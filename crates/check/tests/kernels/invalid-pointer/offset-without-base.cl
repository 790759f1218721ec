// check: --arg out=16 --arg offsets=16:305397760 --arg in=64:index --global 16 --local 8
// The offsets are relative to a base that is not added: the number alone becomes the address.
kernel void gather(global int *out, global const ulong *offsets, global const int *in) {
    size_t i = get_global_id(0);
    global const int *p = (global const int *)(uintptr_t)offsets[i];
    out[i] = *p - in[i]; //~ invalid-pointer
}
