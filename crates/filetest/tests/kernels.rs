//! Generated programs on every rung. `CLOOM_TEST_KERNELS` says how many, `CLOOM_TEST_FIRST` the first seed,
//! `CLOOM_TEST_CODE` for how many of them machine code is made (see [`cloom_filetest::ladder`]).

use cloom_filetest::case::CaseArg;
use cloom_filetest::generate::families::{Families, Family, Statistics};
use cloom_filetest::generate::{BIG, Profile, generate, generate_with};
use cloom_filetest::ladder::{Ladder, Verdict};
use cloom_filetest::rungs::{Stage, prepare};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longer compilations are reported: a compiler that does not terminate would make no failure.
const LONG: Duration = Duration::from_secs(60);

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

#[test]
fn generated_kernels_agree_on_every_rung() {
    let (first, count) = (number("CLOOM_TEST_FIRST", 0), number("CLOOM_TEST_KERNELS", 300));
    let ladder = Ladder::new();
    let (next, agreed) = (AtomicU64::new(first), AtomicU64::new(0));
    let failures = Mutex::new(Vec::new());
    let running = Mutex::new(BTreeMap::new());
    let statistics = Mutex::new(Statistics::default());
    std::thread::scope(|scope| {
        let (working, workers) = channel::<()>();
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let working = working.clone();
            let (next, agreed, failures, running, ladder) = (&next, &agreed, &failures, &running, &ladder);
            let statistics = &statistics;
            scope.spawn(move || {
                let _working = working;
                // Programs that take too long do not count.
                while agreed.load(Ordering::Relaxed) < count && failures.lock().is_ok_and(|f| f.len() < 10) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let program = generate(seed, Profile::of(seed));
                    running.lock().unwrap().insert(seed, Instant::now());
                    statistics.lock().unwrap().add(&program.statistics);
                    let verdict = ladder.check(&program);
                    running.lock().unwrap().remove(&seed);
                    let text = match verdict {
                        Verdict::Agree => {
                            let so_far = agreed.fetch_add(1, Ordering::Relaxed) + 1;
                            if so_far.is_multiple_of(100) {
                                eprintln!("{so_far} of {count} kernels agree, seeds from {first} to {seed}");
                            }
                            continue;
                        }
                        Verdict::TooLong => continue,
                        Verdict::Invalid(failure) => {
                            format!("seed {seed}: a bad program: {failure}\n{}", program.source())
                        }
                        Verdict::Differ(failure) => {
                            let guilty = ladder.bisect(&program, &failure);
                            let (small, failure) = ladder.reduce(&program, &failure);
                            format!(
                                "seed {seed}, options `{}`: {failure}\nright without any of: {guilty:?}\n{small}",
                                program.options
                            )
                        }
                    };
                    // A long run may be stopped before it reports.
                    eprintln!("{text}");
                    failures.lock().unwrap().push(text);
                }
            });
        }
        drop(working);
        while workers.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
            for (seed, since) in running.lock().unwrap().iter().filter(|(_, since)| since.elapsed() > LONG) {
                eprintln!("seed {seed} has taken {} s", since.elapsed().as_secs());
            }
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n----\n"));
    println!("{} kernels, {} passed over", agreed.load(Ordering::Relaxed), next.into_inner() - first - count);
    print!("{}", statistics.into_inner().unwrap());
}

/// Code generation once did not terminate on these.
#[test]
fn kernels_that_code_generation_did_not_end_for() {
    let ladder = Ladder::new();
    for seed in [608338, 704914, 723161] {
        let program = generate_with(seed, Profile::of(seed), Families::NONE);
        assert!(matches!(ladder.check(&program), Verdict::Agree), "seed {seed}");
    }
}

/// The constructs that each family must have made in 400 programs: a mistake in their choice shows nowhere else.
const CONSTRUCTS: [(Family, &[&str]); 13] = [
    (
        Family::Math,
        &[
            "sin",
            "pow",
            "lgamma",
            "tgamma",
            "native_exp",
            "half_sqrt",
            "native_divide",
            "rootn",
            "frexp",
            "isless",
            "dot",
        ],
    ),
    (
        Family::Atomics,
        &[
            "atom_add",
            "atom_max signed",
            "local atom_min signed",
            "float add by cmpxchg",
            "double add by cmpxchg",
            "local float max by cmpxchg",
            "atomic_fetch_explicit",
            "atomic_fetch of 64 bits",
            "compare_exchange_weak",
            "compare_exchange_strong",
            "atomic_flag",
            "store, exchange, load",
            "atomic_work_item_fence",
        ],
    ),
    (
        Family::Pointers,
        &[
            "array of pointers",
            "structure of pointers",
            "pointer to pointer",
            "list",
            "pointer set by a function",
            "array of global pointers",
            "array of local pointers",
            "structure of pointers into three spaces",
        ],
    ),
    (
        Family::Alias,
        &[
            "cols through another argument",
            "restrict, private",
            "restrict, global",
            "overlapping ranges",
            "one word through two arguments in a loop",
        ],
    ),
    (
        Family::Subgroups,
        &[
            "sub_group_shuffle",
            "sub_group_shuffle_xor",
            "sub_group_rotate",
            "sub_group_clustered_rotate",
            "sub_group_ballot",
            "sub_group_ballot in a divergent loop",
            "sub_group_elect",
            "sub_group_non_uniform_reduce",
            "sub_group_non_uniform_scan_exclusive",
            "sub_group_clustered_reduce",
        ],
    ),
    (
        Family::Collectives,
        &[
            "work_group_any",
            "work_group_all",
            "work_group_broadcast",
            "work_group_reduce_add",
            "work_group_scan_exclusive_min",
        ],
    ),
    (Family::Attributes, &["reqd_work_group_size", "work_group_size_hint", "vec_type_hint"]),
    (Family::Long, &["grid-stride loop over 2^18 elements", "uniform", "divergent"]),
    (Family::Records, &["whole structure", "member", "through a pointer"]),
    (
        Family::Link,
        &[
            "functions of one name",
            "barrier in the other file",
            "call of the other file",
            "table of the other file",
            "value from the other file",
        ],
    ),
    (Family::Half, &["vload_half", "half", "vloada_half", "vstore_half", "vstorea_half", "vstore_half of double"]),
    (
        Family::Initialisers,
        &[
            "array of constants",
            "array of constants and others",
            "array of values",
            "read in a loop",
            "bytes of an array",
            "array in part",
            "array in a loop",
            "structure with arrays",
            "copy of a structure with arrays",
        ],
    ),
    (
        Family::Dialect,
        &[
            "subscript written",
            "subscript updated",
            "subscript read",
            "subscript of a swizzle",
            "subscript of a value",
            "hi",
            "odd",
            "aligned variable",
            "aligned type",
            "packed structure",
            "mul",
        ],
    ),
];

#[test]
fn every_family_and_construct_occurs() {
    let mut statistics = Statistics::default();
    let (mut ranges, mut of_8, mut of_16, mut without) = (0, 0, 0, 0);
    // As many as it takes for the rarest: long loops stand in a few of a hundred programs.
    for seed in 0..1500 {
        let program = generate(seed, Profile::of(seed));
        statistics.add(&program.statistics);
        without += u32::from(program.families.is_empty());
        for range in &program.ranges {
            // The dimension of unit stride is the longest in all ranges that fill vectors.
            let row = range.local.into_iter().max().unwrap_or(1);
            ranges += 1;
            of_8 += u32::from(row >= 8);
            of_16 += u32::from(row >= 16);
        }
    }
    println!(
        "{statistics}{ranges} ranges, {of_8} with rows of 8 and more, {of_16} of 16; {without} programs without families"
    );
    for (family, constructs) in CONSTRUCTS {
        for construct in constructs {
            assert!(statistics.of(family, construct) > 0, "{family}: no {construct} in\n{statistics}");
        }
    }
    assert!(Family::ALL.iter().all(|f| CONSTRUCTS.iter().any(|c| c.0 == *f)));
    assert!(of_8 * 10 > ranges * 6 && of_16 * 10 > ranges * 5, "{of_8} and {of_16} of {ranges} ranges");
    assert!(without > 10);
}

/// Groups are batched in loops over as many elements as `big` has, without a test override.
#[test]
fn long_loops_advance_groups_together() {
    let ladder = Ladder::with(cloom_filetest::ladder::Code::None);
    let long = (0..).filter(|&seed| Families::of(seed, Profile::Total).has(Family::Long)).take(20);
    let mut together = 0;
    for seed in long {
        let program = generate(seed, Profile::Total);
        let mut module = ladder.module(&program.source(), program.options).unwrap();
        let kernel = module.find("k").unwrap();
        let target = "x86_64-unknown-linux-gnu:x86-64-v3".parse().unwrap();
        let (options, passes) = Default::default();
        let group = prepare(&mut module, kernel, Stage::Group, options, &target, &passes).unwrap().unwrap();
        together += u32::from(group.launch.grid_stride_bytes > 0);
        let elements = program.arguments(&module, &program.ranges[0]).iter().any(|a| match a {
            CaseArg::Buffer(bytes) => bytes.len() as u64 == 4 * BIG,
            _ => false,
        });
        assert!(elements, "seed {seed} has no large buffer");
    }
    assert!(together >= 2, "{together} of 20");
}
