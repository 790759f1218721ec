// check: --arg cells=32:index --arg steps=5 --global 32 --local 32
// One barrier a step is enough: a step reads one row and writes the other.
kernel void rule90(global uchar *cells, int steps)
{
    local uchar row[2][32];
    uint l = get_local_id(0);
    row[0][l] = cells[l] & 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int from = 0;
    for (int s = 0; s < steps; s++) {
        row[from ^ 1][l] = row[from][(l + 31) % 32] ^ row[from][(l + 1) % 32];
        from ^= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    cells[l] = row[from][l];
}
