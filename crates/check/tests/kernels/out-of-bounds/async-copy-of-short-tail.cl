// check: --arg out=56 --arg in=56:index --arg n=56 --global 64 --local 16
// The last group copies the eight elements that are left, and reads no more of its tile.
#define TILE 16
kernel void staged(global int *out, global const int *in, int n) {
    local int tile[TILE];
    int base = get_group_id(0) * TILE;
    event_t copied = async_work_group_copy(tile, in + base, min(TILE, n - base), 0);
    wait_group_events(1, &copied);
    int i = get_global_id(0);
    if (i < n)
        out[i] = 2 * tile[i - base];
}
