//! `flow` beside OpenCV: the same two frames, whose motion is known, go to both; the mean distance from the true flow
//! and the time of each are printed. Python with OpenCV is what `CLOOM_TEST_PYTHON` names, else `python3`; where there
//! is none, or no OpenCL, the test says so and ends.

#![allow(clippy::print_stdout, reason = "it prints what it measures, and what was not run")]

use cloom_gallery::{Answer, Error, Params, Picture, Session, Verdict, program};
use std::path::{Path, PathBuf};
use std::process::Command;

const SIZE: (usize, usize) = (640, 480);

/// Grey levels of a texture at any place: waves of many lengths, so that it needs no interpolation between pixels.
fn texture(x: f64, y: f64) -> f64 {
    let waves = (0..24).map(|k| {
        let (angle, length) = (f64::from(k) * 2.4, 4.0 * 1.19f64.powi(k));
        let t = std::f64::consts::TAU / length * (x * angle.cos() + y * angle.sin());
        (t + f64::from(k * k)).sin() * length.powf(0.6)
    });
    128.0 + 2.3 * waves.sum::<f64>()
}

/// Where a place of the second frame was.
fn back(kind: &str, [x, y]: [f64; 2]) -> [f64; 2] {
    match kind {
        "swirl" => {
            let (dx, dy) = (x - 300.0, y - 250.0);
            let (s, c) = (0.06 * (-(dx * dx + dy * dy) / 30_000.0).exp()).sin_cos();
            [300.0 + c * dx + s * dy, 250.0 - s * dx + c * dy]
        }
        _ => [x - 5.0 * (y / 30.0).sin() - 2.25, y - 4.0 * (x / 35.0).cos() + 1.5],
    }
}

/// The true flow of a pixel: the place of the second frame that was here.
fn flow(kind: &str, x: f64, y: f64) -> [f64; 2] {
    let to = (0..80).fold([x, y], |to, _| {
        let from = back(kind, to);
        [to[0] + x - from[0], to[1] + y - from[1]]
    });
    [to[0] - x, to[1] - y]
}

fn grey(value: impl Fn(f64, f64) -> f64) -> Picture {
    Picture::from_fn(SIZE.0, SIZE.1, |x, y| {
        let v = value(x as f64, y as f64).round().clamp(0.0, 255.0) as u8;
        u32::from_le_bytes([v, v, v, 255])
    })
}

/// The mean distance and the milliseconds of OpenCV's methods.
fn opencv(files: [&Path; 3]) -> Option<Vec<(String, f64, f64)>> {
    let python = std::env::var("CLOOM_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flow_opencv.py");
    let output = match Command::new(&python).arg(script).args(files).output() {
        Ok(output) => output,
        Err(e) => {
            println!("{python}: {e}: nothing was compared with OpenCV");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(77) {
        println!("{python}: {}: nothing was compared with OpenCV", text.trim());
        return None;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = |line: &str| -> Option<(String, f64, f64)> {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let methods: Vec<_> = text.lines().filter_map(line).collect();
    assert_eq!(methods.len(), 3, "{text}");
    Some(methods)
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn its_error_is_not_above_that_of_opencv() {
    let sessions = match Session::all() {
        Ok(sessions) => sessions,
        Err(Error::NoLoader | Error::NoPlatform) => {
            println!("no OpenCL platform here: nothing was run");
            return;
        }
        Err(e) => panic!("{e}"),
    };
    let folder = Folder(std::env::temp_dir().join(format!("cloom-flow-opencv-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a folder for the frames");
    for kind in ["swirl", "wave"] {
        let [first, second, true_flow] = ["first.png", "second.png", "true.f32"].map(|name| folder.0.join(name));
        grey(texture).save(&first).expect("it fits the disk");
        let moved = |x: f64, y: f64| {
            let [x, y] = back(kind, [x, y]);
            texture(x, y)
        };
        grey(moved).save(&second).expect("it fits the disk");
        let n = SIZE.0 * SIZE.1;
        let flows: Vec<[f64; 2]> = (0..n).map(|i| flow(kind, (i % SIZE.0) as f64, (i / SIZE.0) as f64)).collect();
        let bytes: Vec<u8> = (0..2).flat_map(|c| flows.iter().flat_map(move |f| (f[c] as f32).to_le_bytes())).collect();
        std::fs::write(&true_flow, bytes).expect("it fits the disk");
        let Some(methods) = opencv([&first, &second, &true_flow]) else { return };
        for (name, error, ms) in &methods {
            println!("{kind}: OpenCV's {name}: end-point error {error:.4} pixels, {ms:.2} ms");
        }
        for session in &sessions {
            let params = Params {
                iterations: 9,
                input: Some(first.clone()),
                config: format!("second={}", second.display()),
                ..Params::default()
            };
            let outcome = program("flow").and_then(|p| p.run(session, &params)).expect("it runs");
            assert!(matches!(outcome.verdict, Verdict::Passed(_)), "{kind}: {:?}", outcome.verdict);
            let Answer::Close { values, .. } = &outcome.answer else { panic!("the flow is floats") };
            let off = |i: usize| (f64::from(values[i]) - flows[i][0]).hypot(f64::from(values[n + i]) - flows[i][1]);
            let error = (0..n).map(off).sum::<f64>() / n as f64;
            let (platform, ms) = (&session.found.platform, outcome.times.median().as_secs_f64() * 1e3);
            println!("{kind}: {platform}: end-point error {error:.4} pixels, {ms:.2} ms");
            // Lucas and Kanade's own method of OpenCV at every pixel, with the same window and levels.
            let lk = methods.iter().find(|m| m.0 == "lk").map_or(0.0, |m| m.1);
            assert!(error <= lk.max(0.02), "{kind}: {error} pixels, OpenCV's Lucas-Kanade {lk}");
        }
    }
}
