// Tiles that sleep, one a group: nothing changed in a tile and around it in the sweep before, so that nothing will. Three
// arrays of flags, one a tile, take turns: what changed `before`, what changes in this sweep, and what the sweep `after`
// will report in. Nobody reads the last one in this sweep, so that it is cleared here; and work-items that change
// something all write the same. No group needs a barrier or local memory to find out.

unsigned tile_of_group(void)
{
    return get_group_id(1) * get_num_groups(0) + get_group_id(0);
}

// The flag of a tile; tiles beyond the edge are those of the other side on a torus, and asleep elsewhere.
unsigned flag_of(__global const unsigned *flags, int x, int y)
{
    const int nx = get_num_groups(0), ny = get_num_groups(1);
#if TORUS
    return flags[(y + ny) % ny * nx + (x + nx) % nx];
#else
    return x < 0 || y < 0 || x >= nx || y >= ny ? 0 : flags[y * nx + x];
#endif
}

// Whether the group's tile is awake, where a cell depends on the four beside it.
bool is_awake(__global const unsigned *before)
{
    const int x = get_group_id(0), y = get_group_id(1);
    return (flag_of(before, x, y) | flag_of(before, x - 1, y) | flag_of(before, x + 1, y) | flag_of(before, x, y - 1)
            | flag_of(before, x, y + 1)) != 0;
}

// The same, where it depends on the eight around it.
bool is_awake_around(__global const unsigned *before)
{
    const int x = get_group_id(0), y = get_group_id(1);
    return is_awake(before)
        || (flag_of(before, x - 1, y - 1) | flag_of(before, x + 1, y - 1) | flag_of(before, x - 1, y + 1)
            | flag_of(before, x + 1, y + 1)) != 0;
}

// To be called by all work-items of a group.
void clear_flag(__global unsigned *after)
{
    if (get_local_id(0) == 0 && get_local_id(1) == 0)
        after[tile_of_group()] = 0;
}

void report(__global unsigned *changed, bool mine)
{
    if (mine)
        changed[tile_of_group()] = 1;
}
