// check: --arg out=64 --arg in=80:index --global 64 --local 16
// The copy takes the two elements of the halo along, for which the tile has no room.
#define TILE 16
#define HALO 2
kernel void staged(global int *out, global const int *in) {
    local int tile[TILE];
    event_t copied = async_work_group_copy(tile, in + get_group_id(0) * TILE, TILE + HALO, 0); //~ out-of-bounds
    wait_group_events(1, &copied);
    out[get_global_id(0)] = 2 * tile[get_local_id(0)];
}
