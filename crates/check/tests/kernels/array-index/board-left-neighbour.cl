// check: --arg out=16 --arg boards=16:1 --global 16 --local 4
// The first and the last row are left out, but not the first column: its left neighbour is in the row above.
struct board {
    uchar cell[8][8];
};
kernel void changes(global int *out, global const struct board *boards) {
    global const struct board *b = boards + get_global_id(0);
    int count = 0;
    for (int y = 1; y < 7; y++)
        for (int x = 0; x < 8; x++)
            count += b->cell[y][x] != b->cell[y][x - 1]; //~ array-index
    out[get_global_id(0)] = count;
}
