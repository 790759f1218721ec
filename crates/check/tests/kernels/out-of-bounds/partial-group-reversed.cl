// check: --arg out=40 --arg in=40:index --global 40 --local 16 -cl-std=CL3.0
// Each group reverses its block; the last group has eight work-items and a block of eight, not of 16.
#define BLOCK 16
kernel void reverse_blocks(global int *out, global const int *in) {
    int lid = get_local_id(0);
    int base = get_group_id(0) * BLOCK;
    int v = in[base + lid];
    out[base + BLOCK - 1 - lid] = v; //~ out-of-bounds
}
