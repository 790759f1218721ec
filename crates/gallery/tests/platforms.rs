//! Every program and variant on every device that the OpenCL library offers: each must agree with its reference, at
//! ordinary sizes and at odd ones, under every knob that changes what a kernel does. Where no OpenCL is installed there
//! is nothing to run, and the test says so.
//!
//! On Cloom everything runs. On the other platforms most of the time is their compilers', which work anew for each set
//! of options and often for each size of a group: PoCL took eleven times as much processor time as Cloom for all knobs,
//! and Intel's runtime more. What a run there shows is that the kernels and hosts are right on a platform of another
//! kind. For that, each variant runs at a prime size with default knobs and groups
//! (`all_devices_agree_with_each_other`, which also holds it against the reference), at an odd one with odd groups,
//! and at size one; each set of knobs runs with the program's first variant, because variants share what a knob
//! changes; sets of devices with those that use several. Pictures of 256x256, and knobs together with odd groups, are
//! Cloom's alone.

#![allow(clippy::print_stdout, reason = "it says what was not run")]

mod common;

use cloom_gallery::{
    Error, Observe, Observer, Params, Session, Variant, Verdict, agree, args, cases, program, programs,
};
use common::sessions;
use std::sync::{Mutex, MutexGuard, PoisonError};

const CLOOM: &str = "Cloom";

/// What runs on platforms other than Cloom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnPeers {
    Everything,
    FirstVariant,
    Nothing,
}

/// Held while a test uses another platform than Cloom: one test at a time does. PoCL 3.1 confuses variants of a kernel
/// that run in two contexts at once, and aborts.
static PEERS: Mutex<()> = Mutex::new(());

/// The right to use the session.
fn turn(session: &Session) -> Option<MutexGuard<'static, ()>> {
    (session.found.platform != CLOOM).then(|| PEERS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Runs the programs and the variant that are named, all of them where none is.
fn run_all(peers: OnPeers, names: &[&str], params: &Params, size: impl Fn(&str) -> (usize, usize)) {
    let mut failed = Vec::new();
    for session in sessions() {
        let peers = if session.found.platform == CLOOM { OnPeers::Everything } else { peers };
        if peers == OnPeers::Nothing {
            continue;
        }
        let _turn = turn(&session);
        let mut passed = 0;
        for program in programs().iter().filter(|p| names.is_empty() || names.contains(&p.name())) {
            let named = |v: &&Variant| params.variant.is_empty() || params.variant == v.name;
            let first = program.variants()[0].name;
            let chosen = |v: &&Variant| match peers {
                OnPeers::FirstVariant if params.config.contains("devices=") => v.name.starts_with("devices"),
                OnPeers::FirstVariant => v.name == first,
                _ => true,
            };
            for variant in program.variants().iter().filter(named).filter(chosen) {
                let params =
                    Params { variant: variant.name.into(), size: Some(size(program.name())), ..params.clone() };
                let what = format!("{}: {} {} {}", session.found.platform, program.name(), variant.name, params.config);
                match program.run(&session, &params) {
                    Ok(outcome) => match outcome.verdict {
                        Verdict::Passed(_) => passed += 1,
                        Verdict::Failed(why) => failed.push(format!("{what}: {why}")),
                    },
                    Err(Error::Unsupported(why)) => println!("{what}: not here: {why}"),
                    Err(e) => failed.push(format!("{what}: {e}")),
                }
            }
        }
        println!("{}: {passed} results verified", session.found.platform);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_program_agrees_with_its_reference() {
    run_all(OnPeers::Nothing, &[], &Params { iterations: 2, ..Params::default() }, |name| match name {
        "lcs" => (600, 512),
        _ => (256, 256),
    });
}

#[test]
fn odd_sizes_and_odd_groups_work() {
    let params = Params { iterations: 3, tile_w: Some(7), tile_h: Some(3), ..Params::default() };
    run_all(OnPeers::Everything, &[], &params, |name| match name {
        "lu" => (101, 1),
        "lcs" => (333, 411),
        _ => (131, 67),
    });
}

#[test]
fn a_size_of_one_works() {
    run_all(OnPeers::Everything, &[], &Params { tile_w: Some(1), tile_h: Some(1), ..Params::default() }, |_| (1, 1));
}

#[test]
fn every_knob_works() {
    let cases: &[(&str, u32, &[&str])] = &[
        ("mandel", 2, &["max=1", "max=77,view=still"]),
        ("pixelize", 1, &["param=1", "param=29", "param=4096"]),
        ("stripes", 2, &["param=1", "param=3", "param=8,rounds=30"]),
        // Nothing moves on a board of blocks: the run must stop after one step, wherever the board ends.
        ("life", 6, &["board=finite", "start=gliders", "board=finite,start=random", "board=finite,start=still"]),
        // Long enough to cross tiles, most of which sleep.
        ("life", 30, &["start=glider"]),
        ("life", 3, &["steps=2,devices=own+own/2+own", "steps=4,devices=own/3,board=finite", "steps=2,devices=own"]),
        ("mandel", 2, &["devices=own+own/2", "devices=own/2,view=still"]),
        ("gauss", 2, &["devices=own+own/2", "devices=own/5"]),
        ("max", 1, &["start=spirals", "start=picture"]),
        ("sandpile", 3, &["start=uniform", "start=random,steps=2", "start=pile", "grains=3", "steps=400"]),
        ("sandpile", 3, &["steps=2,devices=own+own/2+own", "start=random,steps=4,devices=own/3", "devices=own"]),
        ("tsp", 1, &["cities=4,prefix=4", "cities=9,prefix=1,map=7"]),
        ("heat3d", 2, &["order=rings", "order=random,steps=4,devices=own+own/2", "order=bisect,devices=own/5"]),
        // Patches fall asleep, or never do.
        ("heat3d", 3, &["start=cold,steps=2,still=1000", "start=cold,still=0", "devices=own"]),
        (
            "histogram",
            2,
            &["stage=1", "stage=2,banks=16", "stage=3,banks=3", "banks=1,input=uniform", "items=1,input=random"],
        ),
        ("histogram", 1, &["sweep=items", "sweep=banks"]),
        ("reduce", 1, &["groups=1", "groups=37"]),
        ("matvec", 1, &["input=denormal", "denorms=zero", "input=denormal,denorms=zero"]),
        ("mad", 1, &["k=1", "k=3", "k=97"]),
        ("bank", 1, &["stride=0", "stride=32"]),
        ("nbody", 3, &["root=native", "root=divide", "motion=orbit"]),
        ("conv", 1, &["taps=1", "taps=31,batch=4", "channels=2,batch=3", "channels=4,taps=5"]),
        ("resample", 1, &["percent=30", "percent=730"]),
        ("wavelet", 1, &["levels=1", "levels=5"]),
        ("lu", 1, &["teams=1", "teams=5"]),
        (
            "flow",
            1,
            &["motion=rotate,window=5", "motion=zoom,window=15,steps=2", "motion=wave,levels=1", "motion=real,steps=5"],
        ),
        ("lcs", 2, &["problem=edit", "step=8", "problem=edit,step=128"]),
        (
            "fieldblur",
            1,
            &[
                "blades=0,tile=32",
                // A side that is level, and one that nearly is.
                "blades=4,turn=45,tile=16,pins=500:500:0;0:0:9.5",
                "blades=7,turn=13,pins=500:500:5",
                "blades=3,turn=359,tile=17,pins=300:300:64;900:900:0.2",
                "source=picture,light=14,bright=0,tile=48",
                "light=0,pins=0:0:0",
            ],
        ),
        ("wave", 3, &["scene=harbour", "scene=slits,rain=0,steps=7", "rain=64,steps=2"]),
        ("morph", 1, &["frames=1", "frames=3,threshold=20,runs=5", "frames=2,skip=3,smooth=0"]),
        (
            "cloth",
            2,
            &[
                "flags=5,steps=1,relax=3,picture=100",
                "scene=drape,colours=greedy,patch=4,picture=333",
                "scene=sphere,add=float,steps=1,patch=10,picture=64",
                "wind=0,relax=1,steps=4,picture=64",
            ],
        ),
        (
            "video",
            3,
            &[
                "queues=1,compile=before,passes=each,counters=atomics",
                "mode=overlay,wipe=iris,method=linear",
                "mode=add,wipe=right,method=bob",
            ],
        ),
        (
            "video",
            1,
            &[
                "mode=normal,wipe=down,method=blend,queues=1",
                "mode=multiply",
                "mode=darken",
                "mode=lighten",
                "mode=difference",
            ],
        ),
    ];
    for &(name, iterations, configs) in cases {
        for &config in configs {
            let params = Params { iterations, config: config.into(), ..Params::default() };
            run_all(OnPeers::FirstVariant, &[name], &params, |_| (147, 65));
            // Where a knob and the tile work together.
            if ["pixelize", "stripes", "life", "max", "sandpile"].contains(&name) {
                run_all(OnPeers::Nothing, &[name], &Params { tile_w: Some(11), tile_h: Some(5), ..params }, |_| {
                    (147, 65)
                });
            }
        }
    }
}

/// Several devices take an even number of steps; all others end on either board.
#[test]
fn a_sandpile_takes_an_odd_number_of_steps() {
    let program = program("sandpile").expect("it is in the list");
    for variant in program.variants().iter().filter(|v| !v.name.starts_with("devices")) {
        let config = "start=random,steps=1".into();
        let params = Params { variant: variant.name.into(), iterations: 3, config, ..Params::default() };
        run_all(OnPeers::Everything, &["sandpile"], &params, |_| (147, 65));
    }
}

/// A part of a device may end its last command after the session is gone: PoCL 3.1 crashed within 30 rounds.
#[test]
fn parts_of_devices_are_there_until_they_are_done() {
    let params = Params { variant: "devices_fixed".into(), iterations: 3, ..Params::default() };
    (0..40).for_each(|_| run_all(OnPeers::Everything, &["gauss"], &params, |_| (131, 67)));
}

#[test]
fn a_mesh_takes_an_odd_number_of_steps() {
    for variant in ["ocl", "ocl_ell", "ocl_patch", "ocl_lazy", "threads", "threads_lazy"] {
        let params =
            Params { variant: variant.into(), iterations: 3, config: "start=cold,steps=3".into(), ..Params::default() };
        run_all(OnPeers::Everything, &["heat3d"], &params, |_| (147, 65));
    }
}

#[test]
fn every_spelling_of_an_idiom_agrees_with_its_reference() {
    for case in cases(program("idioms").expect("it is in the list")) {
        let params = Params { iterations: 2, ..case.params };
        run_all(OnPeers::Everything, &["idioms"], &params, |_| (131, 67));
    }
}

#[test]
fn all_devices_agree_with_each_other() {
    let sessions = sessions();
    let _turns = sessions.iter().find_map(turn);
    let (mut compared, mut complaints) = (0, Vec::new());
    for &program in programs() {
        for variant in program.variants() {
            // Prime sides: no group size divides them.
            let params = Params { variant: variant.name.into(), size: Some((257, 127)), ..Params::default() };
            let agreement = agree(&sessions, program, &params).expect("the variant is the program's own");
            compared += agreement.pairs.len();
            complaints.extend(agreement.complaints());
        }
    }
    let names: Vec<&str> = sessions.iter().map(|s| s.found.platform.as_str()).collect();
    println!("{}: {compared} pairs of results compared", names.join(", "));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Ends a run after so many parts.
struct Until(usize);

impl Observe for Until {
    fn progress(&self, done: usize, _: usize) -> bool {
        done < self.0
    }
}

#[test]
fn a_cancelled_stream_leaves_the_rows_that_were_finished() {
    let path = std::env::temp_dir().join(format!("cloom-fieldblur-{}.ppm", std::process::id()));
    let blur = program("fieldblur").expect("it is in the list");
    for session in sessions() {
        let _turn = turn(&session);
        let params = |tiles| Params {
            variant: "tiled".into(),
            size: Some((100, 90)),
            config: format!("tile=32,write={}", path.display()),
            observer: Observer::new(std::sync::Arc::new(Until(tiles))),
            ..Params::default()
        };
        blur.run(&session, &params(usize::MAX)).expect("it runs");
        let whole = std::fs::read(&path).expect("it was written");
        assert!(whole.starts_with(b"P6\n0000000100 0000000090\n255\n"));
        // Four tiles a band: one band is finished, and two tiles of the next.
        assert!(matches!(blur.run(&session, &params(6)), Err(Error::Cancelled { done: 6, of: 12 })));
        let part = std::fs::read(&path).expect("it was written");
        let (header, pixels) = part.split_at(29);
        assert_eq!(header, b"P6\n0000000100 0000000032\n255\n");
        assert_eq!(pixels, &whole[29..][..3 * 100 * 32]);
    }
    let _ = std::fs::remove_file(&path);
}

#[test]
fn a_write_behind_the_end_is_told() {
    const SOURCE: &str = "kernel void one_too_far(global uint *p, uint n) { p[n] = 1; }";
    for session in sessions() {
        let _turn = turn(&session);
        let kernel = session.build("overrun", SOURCE, "").and_then(|b| b.kernel("one_too_far")).expect("it builds");
        let buffer = session.zeroed::<u32>(100).expect("it fits");
        let launch = |n: u32| {
            session.launch(&kernel, args![&buffer, n], &[1], &[1]).expect("it runs");
            session.read(&buffer)
        };
        assert_eq!(launch(99).expect("within")[99], 1);
        assert!(matches!(launch(100), Err(Error::Overrun { len: 100, at: 100 })));

        // The guards of different buffers must differ.
        const COPY: &str =
            "kernel void copy_too_far(global float *p, global float *q) { int i = get_global_id(0); q[i] = p[i]; }";
        let kernel = session.build("overrun", COPY, "").and_then(|b| b.kernel("copy_too_far")).expect("it builds");
        let (from, to) = (session.upload(&[1.0f32; 10]).expect("it fits"), session.zeroed(10).expect("it fits"));
        session.launch(&kernel, args![&from, &to], &[11], &[]).expect("it runs");
        assert!(matches!(session.read::<f32>(&to), Err(Error::Overrun { len: 10, at: 10 })));
    }
}

#[test]
fn what_a_program_cannot_do_is_refused_with_a_reason() {
    for session in sessions() {
        let _turn = turn(&session);
        let refused = |name: &str, params: Params| match program(name).and_then(|p| p.run(&session, &params)) {
            Err(Error::Params(_) | Error::NotFound { .. } | Error::File { .. }) => {}
            Err(e) => panic!("{name}: another error than expected: {e}"),
            Ok(_) => panic!("{name} ran"),
        };
        let small = || Params { size: Some((16, 16)), ..Params::default() };
        refused("mandelbrot", small());
        refused("mandel", Params { variant: "fast".into(), ..small() });
        refused("mandel", Params { config: "colours=3".into(), ..small() });
        refused("mandel", Params { iterations: 0, ..small() });
        refused("mandel", Params { tile_w: Some(60_000), tile_h: Some(60_000), ..small() });
        refused("stripes", Params { config: "9".into(), ..small() });
        refused("transpose", Params { input: Some("no-such-file.png".into()), ..small() });
        refused("copy", Params { size: Some((0, 1)), ..small() });
        refused("lcs", Params { config: "step=9".into(), ..small() });
        for (variant, config, tile) in [("devices_fixed", "steps=3", 1), ("ocl_patch", "", 8192)] {
            let heat = Params { variant: variant.into(), config: config.into(), tile_w: Some(tile), ..small() };
            refused("heat3d", heat);
        }
        let several = || Params { variant: "devices_fixed".into(), ..small() };
        refused("sandpile", Params { config: "steps=3".into(), ..several() });
        refused("fieldblur", Params { config: "pins=5:5:1;5:5:2".into(), ..small() });
        refused("fieldblur", Params { config: "write=x.ppm".into(), ..small() });
        let tiled = || Params { variant: "tiled".into(), ..small() };
        refused("fieldblur", Params { size: Some((1 << 17, 1)), ..tiled() });
        refused("fieldblur", Params { size: Some((1 << 16, 1 << 16)), config: "tile=16".into(), ..tiled() });
        refused("fieldblur", Params { config: "write=/no/such/folder/x.ppm".into(), ..tiled() });
        refused("morph", Params { config: "second=no-such-file.png".into(), ..small() });
        refused("video", Params { config: "project=no-such-project.toml".into(), ..small() });
        refused("video", Params { input: Some("no-such-film.y4m".into()), ..small() });
        // Nothing is made that no machine holds.
        refused("mandel", Params { size: Some((1 << 17, 1 << 17)), ..small() });
        for variant in ["diagonal", "skewed", "tiles"] {
            let step = Params { variant: variant.into(), config: "step=8".into(), ..small() };
            refused("lcs", Params { size: Some((1 << 21, 1 << 22)), ..step });
        }
    }
}
