//! Processes of tests: this program once more, to play a part, and children of `fork`.

use std::process::{Child, Command, ExitStatus, Output};
use std::time::{Duration, Instant};

/// The variable that names the part.
pub const PART: &str = "CLOOM_TEST_PART";

/// The part of this process, if it is such a child.
pub fn part() -> Option<String> {
    std::env::var(PART).ok()
}

/// This program once more, to play a part: its test `the_part_of_a_child` looks at [`part`].
pub fn child(part: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the path of the test"));
    command.args(["--exact", "the_part_of_a_child", "--nocapture", "--test-threads=1"]).env(PART, part);
    command
}

/// The end of a child, which must come within a minute.
pub fn wait(mut child: Child) -> ExitStatus {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(status) = child.try_wait().expect("the child's status") {
            return status;
        }
        if Instant::now() > end {
            child.kill().expect("the child can be killed");
            panic!("the child does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a child that ends well says.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    let output = command.output().expect("a child can be run");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    output
}

/// Lines of the child's own: they begin with a bar.
pub fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|l| Some(l[l.find('|')? + 1..].to_owned())).collect()
}

/// What a child of `fork` returns. One that hangs is killed after some time, which ends the test.
#[track_caller]
pub fn in_fork(work: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child calls the driver, which is what this tests, and ends without running anything else.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: only sets a timer.
            unsafe { libc::alarm(40) };
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(99);
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(code) }
        }
        child => {
            let mut status = 0;
            // SAFETY: a place for the status.
            unsafe { libc::waitpid(child, &mut status, 0) };
            assert!(libc::WIFEXITED(status), "the child was killed: status {status:#x}");
            libc::WEXITSTATUS(status)
        }
    }
}
