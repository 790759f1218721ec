// check: --arg out=32 --arg in=32:index --global 32 --local 8 --enable shift-range
// The built-in function rotates by any number of bits.
kernel void rotations(global uint *out, global const uint *in) {
    uint i = get_global_id(0);
    uint v = in[i] * 0x9e3779b9u;
    out[i] = rotate(v, i) ^ rotate(v, 32u + i);
}
