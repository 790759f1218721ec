// check: --arg out=32 --arg in=32:index --global 32 --local 8 --enable shift-range
// Both counts are taken modulo 32.
kernel void rotations(global uint *out, global const uint *in) {
    uint i = get_global_id(0);
    uint v = in[i] * 0x9e3779b9u;
    out[i] = (v << (i & 31)) | (v >> (-i & 31));
}
