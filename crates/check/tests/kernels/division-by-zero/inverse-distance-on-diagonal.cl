// check: --arg out=64 --global 8x8 --local 4x4
// The distance to the own column is zero.
kernel void attraction(global uint *out) {
    uint x = get_global_id(0), y = get_global_id(1);
    uint distance = abs_diff(x, y);
    out[8 * y + x] = 1000u / distance; //~ division-by-zero
}
