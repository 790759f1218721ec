//! Runs generated programs on every installed OpenCL platform and compares with the reference interpreter: `peers FIRST COUNT [PLATFORM]`.
//! All rungs share the front end; only others can say that it is wrong.

#![allow(clippy::print_stdout, reason = "it prints what it finds")]

use cloom_filetest::case::{CaseArg, NdRange, Outcome};
use cloom_filetest::generate::{Generated, Profile, generate, tree};
use cloom_filetest::ladder::{Ladder, arguments};
use cloom_filetest::reduce;
use cloom_gallery::cl::Built;
use cloom_gallery::{Arg, Buffer, Session};
use cloom_ir::Module;

/// What a platform makes of a program on a range; `None` if it cannot be asked.
fn run(session: &Session, built: &Built, module: &Module, range: &NdRange) -> Result<Option<Outcome>, String> {
    let kernel = built.kernel("k").map_err(|e| e.to_string())?;
    let (mut buffers, mut args): (Vec<Buffer<u32>>, Vec<Arg>) = Default::default();
    for arg in arguments(module, range) {
        args.push(match arg {
            CaseArg::Buffer(bytes) => {
                let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
                buffers.push(session.upload(&words).map_err(|e| e.to_string())?);
                Arg::from(&buffers[buffers.len() - 1])
            }
            CaseArg::Local(size) => Arg::Local(size as usize),
            CaseArg::Bytes(bytes) => match Arg::value(&bytes) {
                Some(arg) => arg,
                None => return Ok(None),
            },
        });
    }
    let dim = range.work_dim as usize;
    let sizes = |s: [u64; 3]| s[..dim].iter().map(|&x| x as usize).collect::<Vec<usize>>();
    session.launch(&kernel, &args, &sizes(range.global), &sizes(range.local)).map_err(|e| e.to_string())?;
    let mut read = Vec::new();
    for buffer in &buffers {
        let words = session.read(buffer).map_err(|e| e.to_string())?;
        read.push(words.into_iter().flat_map(u32::to_le_bytes).collect());
    }
    Ok(Some(Outcome { buffers: read, printed: Vec::new() }))
}

/// How a platform differs from the reference, if it does.
fn differs(ladder: &Ladder, session: &Session, program: &Generated, source: &str) -> Result<Option<String>, String> {
    let (module, wanted) = ladder.reference(source, program).map_err(|v| format!("a bad program: {v:?}"))?;
    let built = match session.build("k.cl", source, program.options) {
        Ok(built) => built,
        Err(e) => return Ok(Some(format!("refuses it: {e}"))),
    };
    for (range, want) in program.ranges.iter().zip(&wanted) {
        match run(session, &built, &module, range) {
            Ok(Some(got)) => {
                if let Some(d) = want.difference(&got) {
                    return Ok(Some(format!("{d} (ours first; global {:?}, local {:?})", range.global, range.local)));
                }
            }
            Ok(None) => {}
            Err(e) => return Ok(Some(e)),
        }
    }
    Ok(None)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(1u64);
    let platform = args.get(2).cloned().unwrap_or_default();
    let sessions = Session::all().unwrap_or_else(|e| panic!("{e}"));
    let sessions: Vec<Session> = sessions.into_iter().filter(|s| s.found.platform.contains(&platform)).collect();
    assert!(!sessions.is_empty(), "no such platform");
    let ladder = Ladder::new();
    let mut same = 0u64;
    for seed in number(0)..number(0) + number(1) {
        let mut program = generate(seed, Profile::Portable);
        // The sessions know no offsets.
        program.ranges.iter_mut().for_each(|r| r.offset = [0; 3]);
        for session in &sessions {
            let name = &session.found.platform;
            match differs(&ladder, session, &program, &program.source()) {
                Ok(None) => same += 1,
                Err(e) => println!("seed {seed}: {}", e.lines().next().unwrap_or_default()),
                Ok(Some(what)) => {
                    println!("seed {seed}: {name}: {what}");
                    // Why, the log says.
                    if what.starts_with("refuses") {
                        continue;
                    }
                    let small = reduce::smallest(&program.tree, |source| {
                        let now = differs(&ladder, session, &program, source);
                        matches!(now, Ok(Some(w)) if !w.starts_with("refuses"))
                    });
                    println!("{}\n--------", tree::print(&small));
                }
            }
        }
        if seed % 20 == 0 {
            eprintln!("seed {seed}, {same} the same");
        }
    }
    println!("{same} the same");
}
