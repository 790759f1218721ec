// Ballots and the functions of their results, in all and in some work-items of a sub-group.
#define CHECK(c) do { int ok_ = (c); if (!ok_ && !bad) bad = __LINE__; } while (0)
#define HASH(i) (((uint)(i) * 2654435761u) >> 7 ^ (uint)(i) * 40503u)

ulong bits(uint4 b) { return (ulong)b.y << 32 | b.x; }
ulong low(int n) { return n >= 64 ? ~0ul : (1ul << n) - 1; }
int yes(int i) { return HASH(i) % 3 == 0; }

kernel void test(global int *out) {
  int bad = 0, me = get_local_linear_id();
  int own = get_sub_group_local_id(), size = get_sub_group_size(), most = get_max_sub_group_size();
  int first = me - own;
  ulong votes = 0;
  for (int i = 0; i < size; i++) votes |= (ulong)yes(first + i) << i;

  uint4 b = sub_group_ballot(yes(me) * 4);
  CHECK(bits(b) == votes && b.z == 0 && b.w == 0);
  CHECK(bits(sub_group_ballot(1)) == low(size) && bits(sub_group_ballot(0)) == 0);
  CHECK(sub_group_inverse_ballot(b) == yes(me));
  for (int i = 0; i < size; i++) CHECK(sub_group_ballot_bit_extract(b, i) == yes(first + i));
  // An index, and bits, of each work-item's own.
  int any = HASH(me) % size;
  uint4 mine = (uint4)(HASH(me + 3), HASH(me + 5), 0, 0);
  CHECK(sub_group_ballot_bit_extract(b, any) == yes(first + any));
  if (own & 1) CHECK(sub_group_ballot_bit_extract(mine, any) == (bits(mine) >> any & 1));
  CHECK(sub_group_ballot_bit_count(b) == popcount(votes));
  CHECK(sub_group_ballot_bit_count((uint4)(~0u)) == most);
  CHECK(sub_group_ballot_inclusive_scan(b) == popcount(votes & low(own + 1)));
  CHECK(sub_group_ballot_exclusive_scan(b) == popcount(votes & low(own)));
  if (votes) {
    CHECK(sub_group_ballot_find_lsb(b) == ctz(votes));
    CHECK(sub_group_ballot_find_msb(b) == 63 - clz(votes));
  }
  CHECK(sub_group_ballot_find_msb((uint4)(~0u)) == most - 1);
  CHECK(bits(get_sub_group_eq_mask()) == 1ul << own);
  CHECK(bits(get_sub_group_ge_mask()) == (low(most) & ~low(own)));
  CHECK(bits(get_sub_group_gt_mask()) == (low(most) & ~low(own + 1)));
  CHECK(bits(get_sub_group_le_mask()) == low(own + 1));
  CHECK(bits(get_sub_group_lt_mask()) == low(own));

  // Some vote while the others are inactive.
  if (yes(me)) {
    CHECK(bits(sub_group_ballot(1)) == votes);
    CHECK(sub_group_broadcast_first(me) == first + ctz(votes));
    CHECK(sub_group_elect() == (own == ctz(votes)));
    CHECK(sub_group_non_uniform_broadcast((short2)(me, 7), 63 - clz(votes)).x == first + 63 - clz(votes));
  } else {
    ulong others = ~votes & low(size);
    CHECK(bits(sub_group_ballot(me & 1)) == (others & (first & 1 ? 0x5555555555555555ul : 0xaaaaaaaaaaaaaaaaul)));
    CHECK(sub_group_broadcast_first((double)me) == first + ctz(others));
    CHECK(sub_group_elect() == (own == ctz(others)));
  }
  // A loop that retires one of the remaining work-items in each iteration.
  ulong left = low(size);
  for (int done = 0; !done;) {
    CHECK(bits(sub_group_ballot(1)) == left);
    int chosen = sub_group_broadcast_first(own);
    CHECK(chosen == ctz(left));
    left &= left - 1;
    done = chosen == own;
  }
  CHECK(bits(sub_group_ballot(1)) == low(size));
  out[get_global_linear_id()] = bad;
}
