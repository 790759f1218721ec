//! Every overload of every function in the table, on every number of lanes: integer, common and relational functions
//! match the oracle; a math function has the same result for each lane as for scalars (whose accuracy tests/accuracy.rs
//! measures), and stores the same through pointers into each memory.

use cloom_builtins::{Lower, Special, Ty};
use cloom_filetest::builtins::oracle::{fits, want};
use cloom_filetest::builtins::{Call, same, values};
use cloom_filetest::device::Bench;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const LANES: [u8; 6] = [1, 2, 3, 4, 8, 16];

/// The functions of values: not those of work-items, groups and synchronisation, nor the geometric ones
/// (tests/geometric.rs), nor what only the library sees.
fn functions() -> Vec<&'static str> {
    let of_values = |name: &&str| {
        let other = |lower: &Lower| {
            let special = |s: &Special| matches!(s, Special::WorkItem(_) | Special::WorkGroup | Special::Subgroup(_));
            *lower == Lower::Exact || matches!(lower, Lower::Special(s) if special(s))
        };
        !name.starts_with("__cl_") && !cloom_builtins::lookup(name).iter().any(|row| other(&row.lower))
    };
    let mut names: Vec<&str> = cloom_builtins::names().filter(of_values).collect();
    names.sort_unstable();
    names
}

/// Checks a call against the oracle, or against the same call on scalars.
fn check(bench: &Bench, calls: &[Call]) -> Result<usize, String> {
    let mut needed: HashMap<String, Call> = HashMap::new();
    for call in calls {
        needed.insert(call.kernel_name(), call.clone());
        if let Some(scalar) = call.scalar() {
            needed.insert(scalar.kernel_name(), scalar);
        }
    }
    let source: String = needed.values().map(Call::source).collect();
    let built = bench.build(&source, "-cl-std=CL3.0")?;
    let mut compared = 0;
    for call in calls {
        let lanes = usize::from(call.sig.lanes);
        let count = if lanes == 1 { 1024 } else { 512 / lanes };
        let inputs = values::arguments(call, count, 7);
        let got = call.run(&built, &inputs, count)?;
        let widths: Vec<usize> = call.inputs().map(|(_, lanes)| usize::from(lanes)).collect();
        let Ty::Value(result, result_lanes) = call.sig.ret else { return Err("no result".into()) };
        let result_lanes = usize::from(result_lanes);
        let mut known = true;
        for i in 0..count {
            let args: Vec<&[u64]> = inputs.iter().zip(&widths).map(|(x, &w)| &x[i * w..][..w]).collect();
            let Some(want) = want(call, &args) else {
                known = false;
                break;
            };
            let got = &got[0][i * result_lanes..][..result_lanes];
            if !want.iter().zip(got).all(|(&w, &g)| fits(result, w, g)) {
                return Err(format!("{}({args:x?}) is {got:x?}, want {want:x?}", call.kernel_name()));
            }
            compared += 1;
        }
        if known {
            continue;
        }
        // Each lane by itself.
        let spread = |(x, &w): (&Vec<u64>, &usize)| -> Vec<u64> {
            (0..count * lanes).map(|k| if w == lanes { x[k] } else { x[k / lanes] }).collect()
        };
        let scalars: Vec<Vec<u64>> = inputs.iter().zip(&widths).map(spread).collect();
        let scalar = call.scalar().ok_or("no scalar form")?;
        let want = scalar.run(&built, &scalars, count * lanes)?;
        let elems = scalar.sig.params.iter().filter_map(|p| if let Ty::Ptr(_, e, _) = p { Some(*e) } else { None });
        for ((want, got), elem) in want.iter().zip(&got).zip([result].into_iter().chain(elems)) {
            if want.len() != got.len() {
                return Err(format!("{}: {} lanes for {}", call.kernel_name(), got.len(), want.len()));
            }
            if let Some(k) = want.iter().zip(got).position(|(&w, &g)| !same(elem, w, g)) {
                let args: Vec<u64> = scalars.iter().map(|x| x[k]).collect();
                let (w, g) = (want[k], got[k]);
                return Err(format!("{}: lane with {args:x?} is {g:x}, alone it is {w:x}", call.kernel_name()));
            }
        }
        compared += count;
    }
    Ok(compared)
}

#[test]
fn every_overload_gives_what_it_should() {
    let functions = functions();
    assert!(functions.len() > 130, "{}", functions.len());
    let failures = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let compared = AtomicUsize::new(0);
    let work = || {
        let bench = Bench::new(1);
        while let Some(name) = functions.get(next.fetch_add(1, Ordering::Relaxed)) {
            let calls: Vec<Call> = LANES.iter().flat_map(|&lanes| Call::all(name, lanes)).collect();
            match check(&bench, &calls) {
                Ok(n) => drop(compared.fetch_add(n, Ordering::Relaxed)),
                Err(e) => failures.lock().unwrap().push(format!("{name}: {e}")),
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {} functions:\n{}", failures.len(), functions.len(), failures.join("\n"));
    assert!(compared.into_inner() > 100_000);
}

#[test]
fn other_files_test_the_other_functions() {
    // tests/geometric.rs, dot_product.rs and builtins_workitem.rs; run/lang/barriers.cl; groups/*.cl.
    let elsewhere = [
        "async_work_group_copy_fence barrier clock_read_device clock_read_hilo_device clock_read_hilo_work_group",
        "clock_read_work_group cross distance dot dot_4x8packed_ss_int dot_4x8packed_su_int",
        "dot_4x8packed_us_int",
        "dot_4x8packed_uu_uint dot_acc_sat dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_su_int",
        "dot_acc_sat_4x8packed_us_int dot_acc_sat_4x8packed_uu_uint fast_distance fast_length fast_normalize",
        "get_enqueued_local_size get_global_id get_global_linear_id get_global_offset get_global_size",
        "get_group_id get_local_id get_local_linear_id get_local_size get_num_groups get_work_dim length",
        "mem_fence normalize read_mem_fence work_group_barrier write_mem_fence",
    ];
    let here = functions();
    let mut others: Vec<&str> =
        cloom_builtins::names().filter(|n| !n.starts_with("__cl_") && !here.contains(n)).collect();
    others.retain(|n| !n.contains("sub_group") && (!n.starts_with("work_group_") || *n == "work_group_barrier"));
    others.sort_unstable();
    assert_eq!(others, elsewhere.iter().flat_map(|line| line.split(' ')).collect::<Vec<_>>());
}

#[test]
fn nan_is_quiet_and_carries_its_code() {
    let bench = Bench::new(1);
    let call = |bits: u32| {
        let calls = Call::all("nan", 1).into_iter();
        calls.filter(move |c| c.inputs().any(|(elem, _)| elem.bits() == bits)).collect::<Vec<_>>()
    };
    let codes = [0, 1, 2, 77, 0x1234, 0x3f_ffff];
    for (bits, quiet, payload) in
        [(16, 0x7e00, 0x1ff), (32, 0x7fc0_0000, 0x3f_ffff), (64, 0x7ff8 << 48, (1u64 << 51) - 1)]
    {
        let calls = call(bits);
        assert_eq!(calls.len(), 1);
        for call in calls {
            let built = bench.build(&call.source(), "").unwrap();
            let codes: Vec<u64> = codes.iter().map(|c| c & (u64::MAX >> (64 - bits))).collect();
            let got = call.run(&built, std::slice::from_ref(&codes), codes.len()).unwrap();
            let want: Vec<u64> = codes.iter().map(|c| quiet | (c & payload)).collect();
            assert_eq!(got[0], want);
        }
    }
}
