// check: --arg header=16 --arg in=64:index --global 64 --local 16
// The counter in the header begins at byte 6.
kernel void count_even(global uchar *header, global const int *in) {
    volatile global int *counter = (volatile global int *)(header + 6);
    if (in[get_global_id(0)] % 2 == 0)
        atomic_inc(counter); //~ misaligned
}
