// check: --arg out=16 --global 16 --local 4
// A pointer to the end of a row is kept, and only elements before it are accessed.
kernel void last(global int *out) {
    local int rows[4][2];
    int l = get_local_id(0);
    local int *end = &rows[l][2];
    rows[l][0] = 1;
    rows[l][1] = l;
    out[get_global_id(0)] = end[-1];
}
