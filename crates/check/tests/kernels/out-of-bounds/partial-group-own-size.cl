// check: --arg out=40 --arg in=40:index --global 40 --local 16 -cl-std=CL3.0
// Each group reverses its block; the last, partial group asks for its own size.
kernel void reverse_blocks(global int *out, global const int *in) {
    int lid = get_local_id(0);
    int base = get_group_id(0) * get_enqueued_local_size(0);
    int v = in[base + lid];
    out[base + (int)get_local_size(0) - 1 - lid] = v;
}
