// check: --arg m=128:index --global 8x16 --local 8x8
// Each group transposes its matrix of 8 by 8 in place; a barrier is missing between load and store.
#define AT(x, y) ((y) * 8 + (x))

kernel void transpose(global float *m)
{
    size_t x = get_local_id(0), y = get_local_id(1);
    global float *matrix = m + get_group_id(1) * 64;
    float v = matrix[AT(x, y)]; //~ race-global
    matrix[AT(y, x)] = v;       //~ race-global
}
