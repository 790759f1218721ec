//! What the tests on OpenCL platforms share.

use cloom_gallery::{Error, Session};

/// A session on each device; none, which it says, where no OpenCL is installed.
pub fn sessions() -> Vec<Session> {
    match Session::all() {
        Ok(sessions) => sessions,
        Err(Error::NoLoader | Error::NoPlatform) => {
            println!("no OpenCL platform here: nothing was run");
            Vec::new()
        }
        Err(e) => panic!("{e}"),
    }
}
