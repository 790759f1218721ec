// check: --arg out=64 --global 8x8 --local 4x4
// A distance of zero counts as one.
kernel void attraction(global uint *out) {
    uint x = get_global_id(0), y = get_global_id(1);
    uint distance = max(abs_diff(x, y), 1u);
    out[8 * y + x] = 1000u / distance;
}
