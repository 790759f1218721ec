//! `video` on a film that another program has encoded: the sample project with an H.264 file in the place of its first
//! stream, whole, cut, and cut in its head. The program `ffmpeg` makes the files; where it is not installed, or no
//! OpenCL, the test says so and ends.

#![allow(clippy::print_stdout, reason = "it says what was not run")]

mod common;

use cloom_gallery::film::Film;
use cloom_gallery::{Observe, Observer, Outcome, Params, Picture, Result, Session, Verdict, program};
use common::sessions;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

const SIZE: (usize, usize) = (128, 72);
/// Frames of the encoded film.
const FRAMES: usize = 30;

/// A film in H.264, or in MPEG-4 where ffmpeg has no encoder for that; nothing without ffmpeg. Its index lies in front.
fn encoded(path: &Path) -> bool {
    for encoder in ["libx264", "mpeg4"] {
        let mut command = Command::new("ffmpeg");
        command.args(["-nostdin", "-v", "error", "-y", "-f", "lavfi"]);
        command.args(["-i", &format!("testsrc2=size=160x90:rate=25:duration={}", FRAMES as f64 / 25.0)]);
        command.args(["-c:v", encoder, "-pix_fmt", "yuv420p", "-movflags", "+faststart"]).arg(path);
        match command.output() {
            Ok(output) if output.status.success() => return true,
            Ok(output) => println!("ffmpeg -c:v {encoder}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(e) => {
                println!("ffmpeg: {e}: no encoded film was read");
                return false;
            }
        }
    }
    false
}

/// Writes the frames that it gets.
struct Writer(Mutex<Film>);

impl Observe for Writer {
    fn wants_frames(&self) -> bool {
        true
    }
    fn frame(&self, picture: &Picture) -> Result<()> {
        self.0.lock().unwrap().frame(picture)
    }
}

/// Renders so many frames to a film in Y4M; the outcome, and how many whole frames the file has.
fn rendered(session: &Session, input: &Path, frames: u32) -> (Result<Outcome>, usize) {
    let path = input.with_extension("out.y4m");
    let writer = Arc::new(Writer(Mutex::new(Film::new(&path, 25).unwrap())));
    let params = Params {
        variant: "stack".into(),
        size: Some(SIZE),
        iterations: frames,
        input: Some(input.to_owned()),
        observer: Observer::new(writer.clone()),
        ..Params::default()
    };
    let outcome = program("video").unwrap().run(session, &params);
    writer.0.lock().unwrap().finish().unwrap();
    let bytes = std::fs::read(&path).unwrap_or_default();
    let head = bytes.iter().position(|&b| b == b'\n').map_or(0, |at| at + 1);
    let frame = "FRAME\n".len() + 3 * SIZE.0 * SIZE.1;
    assert_eq!((bytes.len() - head) % frame, 0, "the last frame is whole");
    let _ = std::fs::remove_file(path);
    (outcome, (bytes.len() - head) / frame)
}

fn passed(outcome: Result<Outcome>, what: &str) -> Outcome {
    let outcome = outcome.unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(matches!(outcome.verdict, Verdict::Passed(_)), "{what}: {:?}", outcome.verdict);
    outcome
}

#[test]
fn an_encoded_film_is_rendered_up_to_where_it_is_cut() {
    let name =
        |what: &str| -> PathBuf { std::env::temp_dir().join(format!("cloom-video-{what}-{}.mp4", std::process::id())) };
    let (whole, cut, head) = (name("whole"), name("cut"), name("head"));
    if !encoded(&whole) {
        return;
    }
    let bytes = std::fs::read(&whole).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() * 6 / 10]).unwrap();
    std::fs::write(&head, &bytes[..600]).unwrap();
    for session in sessions() {
        let platform = &session.found.platform;
        let (outcome, frames) = rendered(&session, &whole, 6);
        passed(outcome, platform);
        assert_eq!(frames, 6, "{platform}");

        // All frames that the rest of the file holds, and why there are no more.
        let (outcome, frames) = rendered(&session, &cut, FRAMES as u32 + 10);
        let notes = passed(outcome, platform).notes.join("\n");
        assert!((2..FRAMES).contains(&frames), "{platform}: {frames} frames");
        assert!(notes.contains(&format!("the film ends after {frames} frames")), "{platform}: {notes}");
        assert!(notes.contains(&format!("film ends early after frame {frames}: ffmpeg: ")), "{platform}: {notes}");

        // One that is over shows its last frame on.
        let (outcome, frames) = rendered(&session, &whole, FRAMES as u32 + 3);
        assert!(passed(outcome, platform).notes.iter().any(|n| n.contains("its last one stays")), "{platform}");
        assert_eq!(frames, FRAMES + 3, "{platform}");

        let (outcome, frames) = rendered(&session, &head, 3);
        let why = outcome.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(why.contains("ffmpeg cannot read it"), "{platform}: {why}");
        assert_eq!(frames, 0);
        println!("{platform}: an encoded film was rendered, whole and cut");
    }
    for path in [whole, cut, head] {
        std::fs::remove_file(path).unwrap();
    }
}
