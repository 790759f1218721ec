//! Films in forms that need an encoder of their own, by the program `ffmpeg`, which gets the frames through a pipe.

use super::{Encode, colour, suffix};
use crate::picture::Picture;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

pub(super) struct Ffmpeg {
    child: Child,
    input: Option<ChildStdin>,
}

/// Whether the program can be started.
pub(super) fn is_installed() -> bool {
    let mut asked = Command::new("ffmpeg");
    asked.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok_and(|s| s.success())
}

impl Ffmpeg {
    pub(super) fn open(path: &Path, (w, h): (usize, usize), per_second: u32) -> io::Result<Ffmpeg> {
        let mut command = Command::new("ffmpeg");
        command.args(["-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgba"]);
        command.args(["-s", &format!("{w}x{h}"), "-r", &per_second.to_string(), "-i", "-"]);
        // The usual form of a pixel has one colour for two by two of them: sides must be even.
        // ffmpeg's own matrix for what was RGB is that of standard definition, whatever the size.
        command.args(["-vf", &format!("pad=ceil(iw/2)*2:ceil(ih/2)*2,{}", colour::FILTER), "-pix_fmt", "yuv420p"]);
        command.args(colour::MARKS);
        match suffix(path).as_str() {
            "webm" => command.args(["-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-row-mt", "1", "-cpu-used", "5"]),
            _ => command.args(["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart"]),
        };
        // A name that begins with a dash is no option.
        command.arg(std::env::current_dir()?.join(path));
        // In a process group of its own: Ctrl-C shall end the run, whose last frame it still gets.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        Ok(Ffmpeg { child, input })
    }

    /// What it said, after it ended.
    fn complaint(&mut self) -> String {
        let mut said = String::new();
        if let Some(errors) = self.child.stderr.take() {
            // What cannot be read is not told.
            let _ = errors.take(4096).read_to_string(&mut said);
        }
        format!("ffmpeg: {}", if said.trim().is_empty() { "it ended and said nothing" } else { said.trim() })
    }
}

impl Encode for Ffmpeg {
    fn frame(&mut self, picture: &Picture) -> io::Result<()> {
        let written = match &mut self.input {
            Some(input) => input.write_all(&picture.bytes()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        written.map_err(|e| {
            // Closed before the complaint is read: reading waits for ffmpeg's end, and ffmpeg for the end of its input.
            self.input = None;
            if e.kind() == io::ErrorKind::BrokenPipe { io::Error::other(self.complaint()) } else { e }
        })
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.input = None;
        let said = self.complaint();
        if self.child.wait()?.success() { Ok(()) } else { Err(io::Error::other(said)) }
    }
}

impl Drop for Ffmpeg {
    fn drop(&mut self) {
        self.input = None;
        // It ends with its input; nobody is left to tell of an error.
        let _ = self.child.wait();
    }
}
