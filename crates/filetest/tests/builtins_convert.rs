//! Every `convert_*`: all pairs of types, with and without saturation, in each rounding, on scalars and vectors.

use cloom_builtins::Elem;
use cloom_filetest::accuracy::sample::Random;
use cloom_filetest::builtins::convert::{ROUNDINGS, Rounding, convert};
use cloom_filetest::builtins::{from_bytes, load, same, scalar_name, store, to_bytes, type_name, values};
use cloom_filetest::device::{Bench, Data};
use std::fmt::Write;

/// Numbers of a type: small integers and halves, the ends of every integer type and their neighbours, random ones.
fn numbers(from: Elem, count: usize) -> Vec<u64> {
    let mut random = Random::new(from.bits().into());
    let specials = values::specials(from);
    let mut list = Vec::new();
    if from.is_float() {
        let mut ends = specials.clone();
        for power in [7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 62, 63, 64, 127] {
            let end = 2f64.powi(power);
            ends.extend([end, end - 0.5, end - 1.0, end + 1.0, end + 0.5, end - 1.5, end * (1.0 - 2f64.powi(-24))]);
            ends.extend([
                end * (1.0 - 2f64.powi(-53)),
                end * (1.0 + 2f64.powi(-24)),
                end * (1.0 + 2f64.powi(-25) * 1.5),
            ]);
        }
        ends.extend((-10..10).map(|i| f64::from(i) / 2.0));
        // Between two floats, and between two denormal ones.
        ends.extend([1.0 + 2f64.powi(-24), 1.0 + 3.0 * 2f64.powi(-24), 1.5 * 2f64.powi(-149), 2.5 * 2f64.powi(-149)]);
        // The same of halves, and next to where they end.
        ends.extend([
            1.0 + 2f64.powi(-11),
            1.0 + 2f64.powi(-11) + 2f64.powi(-24),
            1.0 + 2f64.powi(-11) + 2f64.powi(-50),
        ]);
        ends.extend([
            2f64.powi(-24),
            2f64.powi(-25),
            2f64.powi(-26),
            2.5 * 2f64.powi(-24),
            2.5 * 2f64.powi(-24) + 1e-20,
        ]);
        ends.extend([2049.0, 2050.0, 2051.0, 4098.0, 4099.0, 65504.0, 65519.0, 65519.99, 65520.0, 65521.0]);
        ends.extend([2f64.powi(-150), 2f64.powi(-151), 2f64.powi(128) * (1.0 - 2f64.powi(-25)), 1e300, 1e-300]);
        list.extend(ends.iter().flat_map(|&x| [x, -x]).map(|x| values::float(from, x)));
    }
    if !from.is_float() {
        // Between two halves, and next to where they end.
        let near = [2047i64, 2049, 2050, 2051, 4097, 4098, 4099, 4102, 32760, 65503, 65504, 65519, 65520, 65521, 70000];
        list.extend(near.iter().flat_map(|&x| [x, -x]).map(|x| x as u64 & values::mask(from)));
    }
    while list.len() < count {
        list.push(match random.below(3) {
            0 if from.is_float() => values::float(from, random.within(-300.0, 300.0)),
            1 if from.is_float() => values::float(from, random.within(-1.0, 1.0) * random.within(0.0, 66.0).exp2()),
            _ => values::any(from, &specials, &mut random),
        });
    }
    list.truncate(list.len() / 48 * 48);
    list
}

/// The forms of a conversion: suffix, saturation, rounding.
fn forms(from: Elem, to: Elem) -> Vec<(String, bool, Rounding)> {
    let default = if from.is_float() && !to.is_float() { Rounding::Rtz } else { Rounding::Rte };
    let mut list = Vec::new();
    for saturate in [false, true] {
        // There is no saturation to floating-point types.
        if saturate && to.is_float() {
            continue;
        }
        let sat = if saturate { "_sat" } else { "" };
        list.push((sat.to_owned(), saturate, default));
        list.extend(ROUNDINGS.map(|(suffix, rounding)| (format!("{sat}{suffix}"), saturate, rounding)));
    }
    list
}

fn check(widths: &[u8], count: usize) {
    let bench = Bench::new(1);
    let mut wrong = Vec::new();
    for from in Elem::ALL {
        let numbers = numbers(from, count);
        let bytes = to_bytes(from, &numbers);
        for &lanes in widths {
            let mut source = String::new();
            for to in Elem::ALL {
                let forms = forms(from, to);
                let outs: Vec<String> = (0..forms.len()).map(|k| format!("global {} *r{k}", scalar_name(to))).collect();
                let body: Vec<String> = forms
                    .iter()
                    .enumerate()
                    .map(|(k, form)| {
                        let call = format!("convert_{}{}(x)", type_name(to, lanes), form.0);
                        store(&call, &format!("r{k}"), lanes)
                    })
                    .collect();
                let _ = writeln!(
                    source,
                    "kernel void to_{}(global const {} *a, {})\n{{ size_t i = get_global_id(0); {} x = {}; {} }}",
                    scalar_name(to),
                    scalar_name(from),
                    outs.join(", "),
                    type_name(from, lanes),
                    load("a", lanes),
                    body.join("\n"),
                );
            }
            let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{e}"));
            for to in Elem::ALL {
                let forms = forms(from, to);
                let size = numbers.len() * to.bits() as usize / 8;
                let mut args = vec![Data::Bytes(&bytes)];
                args.extend(forms.iter().map(|_| Data::Fresh(size)));
                let kernel = format!("to_{}", scalar_name(to));
                let out =
                    built.run(&kernel, numbers.len() / usize::from(lanes), 16, &args).unwrap_or_else(|e| panic!("{e}"));
                for ((suffix, saturate, rounding), out) in forms.iter().zip(&out[1..]) {
                    let got = from_bytes(to, out);
                    let bad = numbers.iter().zip(&got).find(|&(&x, &got)| {
                        convert(from, to, *saturate, *rounding, x).is_some_and(|want| !same(to, want, got))
                    });
                    if let Some((&x, got)) = bad {
                        let want = convert(from, to, *saturate, *rounding, x);
                        let to = type_name(to, lanes);
                        wrong.push(format!("convert_{to}{suffix}({} {x:#x}) is {got:#x}, want {want:x?}", from.code()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} conversions:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn scalars_convert_exactly_in_each_rounding() {
    check(&[1], 2400);
}

#[test]
fn vectors_convert_like_scalars() {
    check(&[2, 3, 4, 8, 16], 480);
}

#[test]
fn the_bits_of_a_value_are_read_as_another_type() {
    let bench = Bench::new(1);
    let widths = [1u8, 2, 3, 4, 8, 16];
    for from in Elem::ALL {
        for lanes in widths {
            let input: Vec<u8> = (0..48 * 16 * 8).map(|i| (i * 73 % 251) as u8).collect();
            let bits = from.bits() * u32::from(lanes);
            let mut source = String::new();
            let mut kernels = Vec::new();
            for to in Elem::ALL {
                // Vectors of three have a fourth lane that holds nothing.
                let other = widths.into_iter().find(|&w| to.bits() * u32::from(w) == bits && (w == 3) == (lanes == 3));
                let Some(w) = other else { continue };
                let t = type_name(to, w);
                let value = format!("as_{t}({})", load("a", lanes));
                let _ = writeln!(
                    source,
                    "kernel void k_{t}(global const {} *a, global {} *r) {{ size_t i = get_global_id(0); {} }}",
                    scalar_name(from),
                    scalar_name(to),
                    store(&value, "r", w),
                );
                kernels.push(format!("k_{t}"));
            }
            let built = bench.build(&source, "").unwrap_or_else(|e| panic!("{e}"));
            for kernel in kernels {
                let size = 48 * bits as usize / 8;
                let args = [Data::Bytes(&input), Data::Fresh(size)];
                let out = built.run(&kernel, 48, 16, &args).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(out[1], input[..size], "{kernel} of {}", type_name(from, lanes));
            }
        }
    }
}
