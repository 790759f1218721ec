//! Functions that read and write memory: vectors and halves, asynchronous copies, atomics; and shuffles.

use cloom_builtins::Elem;
use cloom_filetest::accuracy::sample::Random;
use cloom_filetest::builtins::convert::{ROUNDINGS, Rounding, to_half};
use cloom_filetest::builtins::{from_bytes, load, scalar_name, store, to_bytes, type_name, values};
use cloom_filetest::device::{Bench, Data};
use std::fmt::Write;

const WIDTHS: [u8; 5] = [2, 3, 4, 8, 16];

fn random_bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.bits() as u8).collect()
}

#[test]
fn vectors_are_loaded_and_stored_unaligned_in_every_memory() {
    let bench = Bench::new(1);
    for elem in Elem::ALL {
        let t = scalar_name(elem);
        let size = elem.bits() as usize / 8;
        let mut source = String::new();
        for lanes in WIDTHS {
            // Through global, private, local and constant memory, one element off the alignment of the vector.
            let _ = write!(
                source,
                "kernel void copy{lanes}(global const {t} *a, constant {t} *c, global {t} *r, global {t} *s, local {t} *l)
                {{
                    size_t i = get_global_id(0), j = get_local_id(0);
                    {t} p[3 * {lanes} + 1];
                    vstore{lanes}(vload{lanes}(i, a + 1), 1, p + 1);
                    vstore{lanes}(vload{lanes}(1, p + 1), j, l + 1);
                    vstore{lanes}(vload{lanes}(j, l + 1), i, r + 1);
                    vstore{lanes}(vload{lanes}(i, c + 1), i, s + 1);
                }}\n"
            );
        }
        let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{e}"));
        for lanes in WIDTHS {
            let items = 20;
            let count = items * usize::from(lanes) + 2;
            let input = random_bytes(count * size, 3);
            let local = Data::Local(((8 * usize::from(lanes) + 1) * size) as u64);
            let args =
                [Data::Bytes(&input), Data::Bytes(&input), Data::Fresh(count * size), Data::Fresh(count * size), local];
            let out = built.run(&format!("copy{lanes}"), items, 8, &args).unwrap_or_else(|e| panic!("{e}"));
            // Memory next to the stores is unchanged.
            let mut want = vec![0xa5; count * size];
            want[size..(count - 1) * size].copy_from_slice(&input[size..(count - 1) * size]);
            assert_eq!(out[2], want, "{t}{lanes} through global, private and local memory");
            assert_eq!(out[3], want, "{t}{lanes} from constant memory");
        }
    }
}

/// The address of vector `i` of `vloada_half`: vectors of three lie like vectors of four.
fn place(i: usize, lanes: u8, aligned: bool) -> usize {
    i * usize::from(if aligned && lanes == 3 { 4 } else { lanes })
}

#[test]
fn every_half_is_loaded() {
    let bench = Bench::new(1);
    // Twice, for the gaps of `vloada_half3`.
    let halves: Vec<u64> = (0..2 * 65536).map(|h| h & 0xffff).collect();
    let bytes = to_bytes(Elem::U16, &halves);
    for lanes in [1, 2, 3, 4, 8, 16] {
        for aligned in [false, true] {
            let name = if aligned { "vloada_half" } else { "vload_half" };
            let n = if lanes == 1 { String::new() } else { lanes.to_string() };
            let source = format!(
                "kernel void k(global const half *a, constant half *c, global float *r, global float *s)
                {{ size_t i = get_global_id(0); {} {} }}",
                store(&format!("{name}{n}(i, a)"), "r", lanes),
                store(&format!("{name}{n}(i, c)"), "s", lanes),
            );
            let items = 65536 / usize::from(lanes);
            let size = items * usize::from(lanes) * 4;
            let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{e}"));
            let args = [Data::Bytes(&bytes), Data::Bytes(&bytes), Data::Fresh(size), Data::Fresh(size)];
            let out = built.run("k", items, 64, &args).unwrap_or_else(|e| panic!("{e}"));
            for out in &out[2..] {
                for (k, got) in from_bytes(Elem::F32, out).into_iter().enumerate() {
                    let (i, lane) = (k / usize::from(lanes), k % usize::from(lanes));
                    let bits = ((place(i, lanes, aligned) + lane) & 0xffff) as u16;
                    let want = half::f16::from_bits(bits).to_f32();
                    let got = f32::from_bits(got as u32);
                    let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
                    assert!(same, "{name}{n} of {bits:#x} is {got:e}, want {want:e}");
                }
            }
        }
    }
}

#[test]
fn halves_are_stored_in_each_rounding() {
    let bench = Bench::new(1);
    for elem in [Elem::F32, Elem::F64] {
        let mut random = Random::new(5);
        let specials = values::specials(elem);
        let mut numbers: Vec<u64> = specials.iter().map(|&x| values::float(elem, x)).collect();
        for h in (0..0x7c00u16).step_by(37).chain([0x7bff, 0x3ff, 0x400, 1, 2]) {
            // Halves, midpoints between two, and their neighbours.
            let (x, next) = (half::f16::from_bits(h).to_f64(), half::f16::from_bits(h + 1).to_f64());
            let middle = if next.is_finite() { (x + next) / 2.0 } else { 65520.0 };
            for y in [x, middle] {
                let bits = values::float(elem, y);
                numbers.extend([bits, bits + 1, bits.saturating_sub(1)]);
                numbers.push(values::float(elem, -y));
            }
        }
        while numbers.len() < 6000 || !numbers.len().is_multiple_of(48) {
            numbers.push(values::float(elem, random.within(-1.0, 1.0) * random.within(-26.0, 18.0).exp2()));
        }
        let bytes = to_bytes(elem, &numbers);
        let default = [("", Rounding::Rte)];
        for lanes in [1u8, 2, 3, 4, 8, 16] {
            for aligned in [false, true] {
                let name = if aligned { "vstorea_half" } else { "vstore_half" };
                let n = if lanes == 1 { String::new() } else { lanes.to_string() };
                let forms: Vec<(&str, Rounding)> = default.into_iter().chain(ROUNDINGS).collect();
                let outs: Vec<String> = (0..forms.len()).map(|k| format!("global half *r{k}")).collect();
                let calls: Vec<String> =
                    forms.iter().enumerate().map(|(k, f)| format!("{name}{n}{}(x, i, r{k});", f.0)).collect();
                let source = format!(
                    "kernel void k(global const {} *a, {})\n{{ size_t i = get_global_id(0); {} x = {}; {} }}",
                    scalar_name(elem),
                    outs.join(", "),
                    type_name(elem, lanes),
                    load("a", lanes),
                    calls.join(" "),
                );
                let items = numbers.len() / usize::from(lanes);
                let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{e}"));
                let mut args = vec![Data::Bytes(&bytes)];
                args.extend(forms.iter().map(|_| Data::Fresh(place(items, lanes, aligned) * 2)));
                let out = built.run("k", items, 64, &args).unwrap_or_else(|e| panic!("{e}"));
                for ((suffix, rounding), out) in forms.iter().zip(&out[1..]) {
                    let got = from_bytes(Elem::U16, out);
                    for (k, &bits) in numbers.iter().enumerate() {
                        let (i, lane) = (k / usize::from(lanes), k % usize::from(lanes));
                        let got = got[place(i, lanes, aligned) + lane] as u16;
                        let x = values::to_f64(elem, bits);
                        let want = to_half(x, *rounding);
                        let nan = x.is_nan() && half::f16::from_bits(got).is_nan();
                        assert!(nan || got == want, "{name}{n}{suffix}({x:e}) is {got:#x}, want {want:#x}");
                    }
                }
            }
        }
    }
}

#[test]
fn shuffles_pick_lanes_modulo_their_number() {
    let bench = Bench::new(1);
    let items = 24;
    for elem in Elem::ALL {
        let mask = Elem::int(elem.bits(), false);
        let (t, m) = (scalar_name(elem), scalar_name(mask));
        let widths = [2u8, 4, 8, 16];
        let mut source = String::new();
        for from in widths {
            for to in widths {
                let _ = write!(
                    source,
                    "kernel void k{from}_{to}(global const {t} *a, global const {t} *b, global const {m} *c, global {t} *r, global {t} *s)
                    {{
                        size_t i = get_global_id(0);
                        vstore{to}(shuffle(vload{from}(i, a), vload{to}(i, c)), i, r);
                        vstore{to}(shuffle2(vload{from}(i, a), vload{from}(i, b), vload{to}(i, c)), i, s);
                    }}\n"
                );
            }
        }
        let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{e}"));
        let size = elem.bits() as usize / 8;
        for from in widths.map(usize::from) {
            for to in widths.map(usize::from) {
                let (a, b) = (random_bytes(items * from * size, 1), random_bytes(items * from * size, 2));
                let c = random_bytes(items * to * size, 4);
                let fresh = items * to * size;
                let args = [Data::Bytes(&a), Data::Bytes(&b), Data::Bytes(&c), Data::Fresh(fresh), Data::Fresh(fresh)];
                let out = built.run(&format!("k{from}_{to}"), items, 8, &args).unwrap_or_else(|e| panic!("{e}"));
                let (a, b, c) = (from_bytes(elem, &a), from_bytes(elem, &b), from_bytes(mask, &c));
                let one = |k: usize, lanes: u64| {
                    let (i, lane) = (k / to, (c[k] % lanes) as usize);
                    if lane < from { a[i * from + lane] } else { b[i * from + lane - from] }
                };
                let shuffled: Vec<u64> = (0..items * to).map(|k| one(k, from as u64)).collect();
                assert_eq!(from_bytes(elem, &out[3]), shuffled, "shuffle of {t}{from} to {to}");
                let shuffled: Vec<u64> = (0..items * to).map(|k| one(k, 2 * from as u64)).collect();
                assert_eq!(from_bytes(elem, &out[4]), shuffled, "shuffle2 of {t}{from} to {to}");
            }
        }
    }
}

#[test]
fn asynchronous_copies_move_whole_groups() {
    let bench = Bench::new(2);
    for elem in Elem::ALL {
        for lanes in [1u8, 2, 3, 4, 8, 16] {
            let t = type_name(elem, lanes);
            // Vectors of three lie like vectors of four.
            let size = elem.bits() as usize / 8 * if lanes == 3 { 4 } else { usize::from(lanes) };
            let (group, groups) = (20usize, 3usize);
            let source = format!(
                "kernel void k(global const {t} *a, global {t} *r, global {t} *s, local {t} *l)
                {{
                    size_t g = get_group_id(0) * {group};
                    event_t e = async_work_group_copy(l, a + g, {group}, 0);
                    e = async_work_group_strided_copy(l + {group}, a + get_group_id(0), {group}, {groups}, e);
                    prefetch(a, {group});
                    wait_group_events(1, &e);
                    barrier(CLK_LOCAL_MEM_FENCE);
                    l[get_local_id(0)] = l[get_local_id(0)];
                    barrier(CLK_LOCAL_MEM_FENCE);
                    event_t f[2];
                    f[0] = async_work_group_copy(r + g, l, {group}, 0);
                    f[1] = async_work_group_strided_copy(s + get_group_id(0), l + {group}, {group}, {groups}, 0);
                    wait_group_events(2, f);
                }}"
            );
            let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{e}"));
            let input = random_bytes(group * groups * size, 9);
            let args = [
                Data::Bytes(&input),
                Data::Fresh(input.len()),
                Data::Fresh(input.len()),
                Data::Local((2 * group * size) as u64),
            ];
            let out = built.run("k", group * groups, group, &args).unwrap_or_else(|e| panic!("{e}"));
            // The fourth lane of a vector of three is nobody's.
            let used = elem.bits() as usize / 8 * usize::from(lanes);
            for out in &out[1..] {
                for (k, (got, want)) in out.chunks(size).zip(input.chunks(size)).enumerate() {
                    assert_eq!(got[..used], want[..used], "{t}, element {k}");
                }
            }
        }
    }
}

/// The result of an atomic operation in memory, for an old value and an operand.
fn atomic(op: &str, t: Elem, old: u64, x: u64) -> u64 {
    let (a, b) = (values::to_int(t, old), values::to_int(t, x));
    let new = match op {
        "add" => old.wrapping_add(x),
        "sub" => old.wrapping_sub(x),
        "inc" => old.wrapping_add(1),
        "dec" => old.wrapping_sub(1),
        "xchg" => x,
        "min" => {
            if b < a {
                x
            } else {
                old
            }
        }
        "max" => {
            if b > a {
                x
            } else {
                old
            }
        }
        "and" => old & x,
        "or" => old | x,
        _ => old ^ x,
    };
    new & values::mask(t)
}

#[test]
fn atomics_give_the_old_value_and_leave_the_new() {
    let bench = Bench::new(1);
    let ops = ["add", "sub", "xchg", "inc", "dec", "min", "max", "and", "or", "xor"];
    let prefixes = [("atomic_", false), ("atom_", false), ("atom_", true)];
    for (prefix, long) in prefixes {
        for signed in [true, false] {
            let elem = Elem::int(if long { 64 } else { 32 }, signed);
            let t = scalar_name(elem);
            let mut random = Random::new(8);
            let n = 64;
            let mut numbers = || -> Vec<u64> { (0..n).map(|_| values::any(elem, &[], &mut random)).collect() };
            let (a, x, y) = (numbers(), numbers(), numbers());
            for space in ["global", "local"] {
                let mut body = String::new();
                for (k, op) in ops.iter().enumerate() {
                    let operand = if ["inc", "dec"].contains(op) { "" } else { ", x[i]" };
                    let _ = writeln!(
                        body,
                        "*p = a[i]; old[{n} * {k} + i] = {prefix}{op}(p{operand}); new[{n} * {k} + i] = *p;"
                    );
                }
                let k = ops.len();
                let source = format!(
                    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
                    #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
                    kernel void k(global const {t} *a, global const {t} *x, global const {t} *y,
                                  global {t} *old, global {t} *new, global {t} *g, local {t} *l)
                    {{
                        size_t i = get_global_id(0);
                        {space} {t} *p = {};
                        {body}
                        *p = a[i]; old[{n} * {k} + i] = {prefix}cmpxchg(p, i & 1 ? a[i] : y[i], x[i]); new[{n} * {k} + i] = *p;
                    }}",
                    if space == "global" { "g + i" } else { "l + get_local_id(0)" },
                );
                let bytes = [&a, &x, &y].map(|v| to_bytes(elem, v));
                let size = elem.bits() as usize / 8;
                let out = ops.len() + 1;
                let args = [
                    Data::Bytes(&bytes[0]),
                    Data::Bytes(&bytes[1]),
                    Data::Bytes(&bytes[2]),
                    Data::Fresh(n * out * size),
                    Data::Fresh(n * out * size),
                    Data::Fresh(n * size),
                    Data::Local((16 * size) as u64),
                ];
                let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{prefix} {t}: {e}"));
                let out = built.run("k", n, 16, &args).unwrap_or_else(|e| panic!("{e}"));
                let (old, new) = (from_bytes(elem, &out[3]), from_bytes(elem, &out[4]));
                for i in 0..n {
                    for (k, op) in ops.iter().enumerate() {
                        let got = (old[n * k + i], new[n * k + i]);
                        let want = (a[i], atomic(op, elem, a[i], x[i]));
                        assert_eq!(got, want, "{prefix}{op} of {space} {t}, {:#x} and {:#x}", a[i], x[i]);
                    }
                    let expected = if i % 2 == 1 { a[i] } else { y[i] };
                    let want = if a[i] == expected { x[i] } else { a[i] };
                    assert_eq!((old[n * k + i], new[n * k + i]), (a[i], want), "{prefix}cmpxchg of {space} {t}");
                }
            }
        }
    }
}

#[test]
fn atomics_of_many_work_items_lose_nothing() {
    let bench = Bench::new(4);
    let items = 4096usize;
    let source = "
        #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
        #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
        kernel void k(volatile global int *n, volatile global ulong *w, volatile global float *f, local int *l)
        {
            int i = get_global_id(0);
            if (get_local_id(0) == 0)
                l[0] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            atomic_inc(l);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_id(0) == 0)
                atomic_add(n, l[0]);
            atomic_max(n + 1, i);
            atomic_min(n + 2, -i);
            atomic_xor(n + 3, i);
            atom_add(w, 0x100000001ul);
            atom_max(w + 1, (ulong)i << 33);
            // A sum by compare and exchange, and a value that is handed from one to the next.
            int old = n[4], seen;
            while ((seen = atomic_cmpxchg(n + 4, old, old + i)) != old)
                old = seen;
            float mine = atomic_xchg(f, (float)i);
            atomic_xor(n + 5, (int)mine);
        }";
    let built = bench.build(source, "").unwrap_or_else(|e| panic!("{e}"));
    let args = [Data::Bytes(&[0; 24]), Data::Bytes(&[0; 16]), Data::Bytes(&[0; 4]), Data::Local(4)];
    let out = built.run("k", items, 64, &args).unwrap_or_else(|e| panic!("{e}"));
    let n: Vec<i32> = from_bytes(Elem::I32, &out[0]).into_iter().map(|b| b as i32).collect();
    let w = from_bytes(Elem::U64, &out[1]);
    let last = items as i32 - 1;
    assert_eq!(n[..5], [items as i32, last, -last, 0, (0..=last).sum::<i32>()]);
    assert_eq!(w, [items as u64 * 0x1_0000_0001, (last as u64) << 33]);
    // Every value but the last was seen by exactly one other.
    let left = f32::from_bits(from_bytes(Elem::U32, &out[2])[0] as u32) as i32;
    assert_eq!(n[5] ^ left, 0);
}
