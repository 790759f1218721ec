// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable conversion-range
// Numbers below zero have no counterpart in uint; the conversion is implicit.
kernel void cells(global uint *out, global const float *in) {
    size_t i = get_global_id(0);
    uint cell = (in[i] - 8.0f) * 4.0f; //~ conversion-range
    out[i] = cell;
}
