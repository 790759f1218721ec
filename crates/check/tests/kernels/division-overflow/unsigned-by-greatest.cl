// check: --arg out=16 --arg in=16:2147483648 --arg divisor=4294967295 --global 16 --local 8
// The bits are those of the least integer and of -1, but both numbers are unsigned.
kernel void quotients(global uint *out, global const uint *in, uint divisor) {
    size_t i = get_global_id(0);
    out[i] = in[i] / divisor;
}
