// check: --arg out=60 --arg in=63:index --global 60 --local 12
// Vectors overlap; the last one, of elements 59 to 62, is the last that fits.
kernel void sums_of_four(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int4 v = vload4(0, in + i);
    out[i] = v.x + v.y + v.z + v.w;
}
