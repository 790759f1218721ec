// Ballots of sub-groups as masks of four words: sub_group_ballot and the functions of its results,
// get_sub_group_*_mask.
//
// A sub-group has at most 64 work-items, so the first two words hold all bits that count.

#define FN __attribute__((overloadable))

static uint4 ballot_of(ulong bits)
{
    return (uint4)((uint)bits, (uint)(bits >> 32), 0, 0);
}

// The n lowest bits, n from 0 to 64.
static ulong ballot_low(ulong n)
{
    return n >= 64 ? ~0ul : (1ul << n) - 1;
}

static ulong ballot_bits(uint4 b)
{
    return (ulong)b.y << 32 | b.x;
}

// The bits of work-items that exist.
static ulong ballot_real(uint4 b)
{
    return ballot_bits(b) & ballot_low(get_max_sub_group_size());
}

uint4 FN sub_group_ballot(int predicate)
{
    return ballot_of(__cl_ballot(predicate));
}

int FN sub_group_inverse_ballot(uint4 value)
{
    return (int)(ballot_bits(value) >> get_sub_group_local_id() & 1);
}

int FN sub_group_ballot_bit_extract(uint4 value, uint index)
{
    return (int)(ballot_bits(value) >> (index & 63) & 1);
}

uint FN sub_group_ballot_bit_count(uint4 value)
{
    return (uint)__cl_popcount(ballot_real(value));
}

uint FN sub_group_ballot_inclusive_scan(uint4 value)
{
    return (uint)__cl_popcount(ballot_bits(value) & ballot_low(get_sub_group_local_id() + 1));
}

uint FN sub_group_ballot_exclusive_scan(uint4 value)
{
    return (uint)__cl_popcount(ballot_bits(value) & ballot_low(get_sub_group_local_id()));
}

uint FN sub_group_ballot_find_lsb(uint4 value)
{
    return (uint)__cl_ctz(ballot_real(value));
}

uint FN sub_group_ballot_find_msb(uint4 value)
{
    return 63 - (uint)__cl_clz(ballot_real(value));
}

uint4 FN get_sub_group_eq_mask(void)
{
    return ballot_of(1ul << get_sub_group_local_id());
}

uint4 FN get_sub_group_ge_mask(void)
{
    return ballot_of(ballot_low(get_max_sub_group_size()) & ~ballot_low(get_sub_group_local_id()));
}

uint4 FN get_sub_group_gt_mask(void)
{
    return ballot_of(ballot_low(get_max_sub_group_size()) & ~ballot_low(get_sub_group_local_id() + 1));
}

uint4 FN get_sub_group_le_mask(void)
{
    return ballot_of(ballot_low(get_sub_group_local_id() + 1));
}

uint4 FN get_sub_group_lt_mask(void)
{
    return ballot_of(ballot_low(get_sub_group_local_id()));
}
