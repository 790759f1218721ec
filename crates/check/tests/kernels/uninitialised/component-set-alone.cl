// check: --arg out=4 --global 4 --local 4
// Only one component of the vector is set; the other one is stored, too.
kernel void pairs(global int2 *out) {
    int2 v;
    v.x = get_global_id(0);
    out[get_global_id(0)] = v; //~ uninitialised
}
