// check: --arg out=1 --global 4 --local 4
// All work-items store the same sixteen bytes.
kernel void set(global int4 *out) {
    out[0] = (int4)(1, 2, 3, 4); //~ race-global
}
