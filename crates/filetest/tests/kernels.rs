//! Generated programs on every rung. `CLOOM_TEST_KERNELS` says how many, `CLOOM_TEST_FIRST` the first seed, `CLOOM_TEST_CODE` for how many
//! of them machine code is made (see [`cloom_filetest::ladder`]).

use cloom_filetest::generate::{Profile, generate};
use cloom_filetest::ladder::{Ladder, Verdict};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What takes longer than this is told of: a compiler that goes round in circles makes no failure.
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
    std::thread::scope(|scope| {
        let (working, workers) = channel::<()>();
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let working = working.clone();
            let (next, agreed, failures, running, ladder) = (&next, &agreed, &failures, &running, &ladder);
            scope.spawn(move || {
                let _working = working;
                // Programs that take too long do not count.
                while agreed.load(Ordering::Relaxed) < count && failures.lock().is_ok_and(|f| f.len() < 10) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let program = generate(seed, Profile::of(seed));
                    running.lock().unwrap().insert(seed, Instant::now());
                    let verdict = ladder.check(&program);
                    running.lock().unwrap().remove(&seed);
                    let text = match verdict {
                        Verdict::Agree => {
                            let so_far = agreed.fetch_add(1, Ordering::Relaxed) + 1;
                            if so_far.is_multiple_of(500) {
                                eprintln!("{so_far} of {count} kernels agree, seeds from {first} to {seed}");
                            }
                            continue;
                        }
                        Verdict::TooLong => continue,
                        Verdict::Invalid(failure) => {
                            format!("seed {seed}: a bad program: {failure}\n{}", program.source())
                        }
                        Verdict::Differ(failure) => {
                            let (small, failure) = ladder.reduce(&program, &failure);
                            format!("seed {seed}, options `{}`: {failure}\n{small}", program.options)
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
}

/// Code generation once went round in circles over these for ever.
#[test]
fn kernels_that_code_generation_did_not_end_for() {
    let ladder = Ladder::new();
    for seed in [608338, 704914, 723161] {
        let program = generate(seed, Profile::of(seed));
        assert!(matches!(ladder.check(&program), Verdict::Agree), "seed {seed}");
    }
}
