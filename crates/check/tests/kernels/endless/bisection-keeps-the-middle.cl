// check: --arg sorted=32:index --arg keys=8:index --arg place=8 --global 8 --local 4 --time-limit 1
// With two neighbours left the middle is the lower one, which stays.
kernel void find(global const int *sorted, global const int *keys, global uint *place)
{
    int key = keys[get_global_id(0)];
    uint low = 0, high = 32;
    while (low < high) { //~ endless
        uint middle = (low + high) / 2;
        if (sorted[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    place[get_global_id(0)] = low;
}
