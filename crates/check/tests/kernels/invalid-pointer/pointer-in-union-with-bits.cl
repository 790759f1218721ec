// check: --arg out=32 --arg in=33:index --global 32 --local 8
// The member bits has the pointer's bits, and is increased by the size of an element.
union cursor {
    global const int *at;
    uintptr_t bits;
};
kernel void successors(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    union cursor c;
    c.at = in + i;
    c.bits += sizeof(int);
    out[i] = *c.at;
}
