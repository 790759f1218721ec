// check: --arg next=1 --arg limit=40000 --arg drawn=16 --global 16 --local 16 --time-limit 1
// No work-item counts on its own: the loop ends as all of them draw from one counter.
kernel void draw(volatile global uint *next, uint limit, global uint *drawn)
{
    uint mine = 0;
    while (atomic_inc(next) < limit)
        mine++;
    drawn[get_global_id(0)] = mine;
}
