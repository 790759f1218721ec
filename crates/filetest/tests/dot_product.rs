//! Integer dot products against exact sums: every mix of signs, as vectors and packed into words, without and with an
//! accumulator that the sum saturates.

use cloom_builtins::{Elem, Ty};
use cloom_filetest::accuracy::sample::Random;
use cloom_filetest::builtins::{Call, values};
use cloom_filetest::device::Bench;

/// The ends of both types and what is near them.
const EDGES: [u64; 7] = [0, 1, 0x7f, 0x80, 0x81, 0xfe, 0xff];

/// The signs of the bytes of `a` and `b`: those of the types, or by the name of a function of packed bytes.
fn bytes(call: &Call) -> (Elem, Elem) {
    let sign = |letter: &str| if letter == "u" { Elem::U8 } else { Elem::I8 };
    match call.name.split_once("4x8packed_") {
        Some((_, signs)) => (sign(&signs[..1]), sign(&signs[1..2])),
        None => {
            let types: Vec<Elem> = call.inputs().map(|(elem, _)| elem).collect();
            (types[0], types[1])
        }
    }
}

/// The bytes of one argument, and the numbers that the call takes for it.
fn argument(count: usize, packed: bool, random: &mut Random) -> (Vec<u64>, Vec<u64>) {
    let byte = |random: &mut Random| match random.below(2) {
        0 => EDGES[random.below(EDGES.len())],
        _ => random.bits() & 0xff,
    };
    let bytes: Vec<u64> = (0..count * 4).map(|_| byte(random)).collect();
    let word = |b: &[u64]| b.iter().rev().fold(0, |word, byte| word << 8 | byte);
    let given = if packed { bytes.chunks(4).map(word).collect() } else { bytes.clone() };
    (bytes, given)
}

fn check(bench: &Bench, call: &Call) -> usize {
    let built = bench.build(&call.source(), "-cl-std=CL3.0").unwrap_or_else(|e| panic!("{}: {e}", call.name));
    let count = 2048;
    let mut random = Random::new(11);
    let packed = call.name.contains("packed");
    let ((a, given_a), (b, given_b)) = (argument(count, packed, &mut random), argument(count, packed, &mut random));
    let mut inputs = vec![given_a, given_b];
    let Ty::Value(result, 1) = call.sig.ret else { panic!("{} has no result", call.name) };
    let accumulates = call.name.contains("acc_sat");
    if accumulates {
        inputs.push((0..count).map(|_| values::any(result, &[], &mut random)).collect());
    }
    let got = call.run(&built, &inputs, count).unwrap_or_else(|e| panic!("{}: {e}", call.name));
    let (ta, tb) = bytes(call);
    assert_eq!(values::signed(result), ta == Elem::I8 || tb == Elem::I8, "{}", call.name);
    let (low, high) =
        if values::signed(result) { (i128::from(i32::MIN), i128::from(i32::MAX)) } else { (0, i128::from(u32::MAX)) };
    let mut saturated = 0;
    for i in 0..count {
        let product = |k: usize| values::to_int(ta, a[k]) * values::to_int(tb, b[k]);
        let dot: i128 = (4 * i..4 * i + 4).map(product).sum();
        let sum = dot + if accumulates { values::to_int(result, inputs[2][i]) } else { 0 };
        let want = sum.clamp(low, high);
        saturated += usize::from(want != sum);
        assert_eq!(values::to_int(result, got[0][i]), want, "{} number {i}", call.kernel_name());
    }
    saturated
}

#[test]
fn dot_products_are_exact_and_saturate_once() {
    let bench = Bench::new(1);
    let mut checked = 0;
    for name in cloom_builtins::names().filter(|n| n.starts_with("dot")) {
        for lanes in [1, 4] {
            let of_integers = |c: &Call| c.inputs().all(|(elem, _)| !elem.is_float());
            for call in Call::all(name, lanes).into_iter().filter(of_integers) {
                let saturated = check(&bench, &call);
                assert_eq!(saturated > 0, name.contains("acc_sat"), "{}", call.kernel_name());
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 16, "four mixes of signs of four functions");
}
