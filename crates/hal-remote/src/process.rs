//! A helper, as the application has it: it is started with a listening socket as its standard input, and ends when no
//! connection is left.

use crate::wire::{self, Fault, Reply, Request, VERSION};
use cloom_hal::HalError;
use cloom_hal::lock::Mutex;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};

/// The program that becomes a helper.
#[derive(Clone, Debug)]
pub struct Program {
    /// `cloom`: a path, or a name that is looked for in `PATH`.
    pub path: PathBuf,
    /// The folder of machine code.
    pub cache: Option<PathBuf>,
}

/// A running helper.
pub struct Helper {
    child: Mutex<Child>,
    /// The folder of its socket, which nobody else may enter.
    folder: Folder,
    /// Connections that no thread uses.
    idle: Mutex<Vec<UnixStream>>,
    /// Why it does nothing any more.
    lost: OnceLock<String>,
    /// Its memories that are not freed.
    memories: Mutex<Sizes>,
    /// Those of helpers that are lost, as long as the application has them.
    buried: Arc<Mutex<Sizes>>,
}

/// The sizes of memories, by their addresses.
pub type Sizes = BTreeMap<u64, u64>;

/// A folder of this process's own, which is removed in the end.
struct Folder(PathBuf);

impl Folder {
    /// Its name cannot be guessed, and nobody else may enter it.
    fn new() -> io::Result<Folder> {
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("cloom-gpu-").permissions(private).tempdir()?;
        // It is removed by hand: a helper that is lost removes it early.
        Ok(Folder(folder.keep()))
    }

    fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }

    fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.remove();
    }
}

impl Helper {
    /// Starts one. `buried` is what the application still has of earlier ones.
    pub fn start(program: &Program, buried: &Arc<Mutex<Sizes>>) -> Result<Arc<Helper>, HalError> {
        let fails = |what: &Path| {
            let what = what.display().to_string();
            move |e: io::Error| HalError::Device(format!("no process for the GPU: {what}: {e}"))
        };
        let folder = Folder::new().map_err(fails(Path::new("a temporary folder")))?;
        let socket = folder.socket();
        // The application itself listens and hands the socket over, so that it can connect before the helper runs.
        let listener = UnixListener::bind(&socket).map_err(fails(&socket))?;
        // The first connection lasts as long as the helper is wanted.
        let first = UnixStream::connect(&socket).map_err(fails(&socket))?;
        let mut command = Command::new(&program.path);
        command
            .args(["gpu-helper", "--driver", VERSION])
            .stdin(Stdio::from(OwnedFd::from(listener)))
            .stdout(Stdio::null());
        if let Some(cache) = &program.cache {
            command.arg("--cache").arg(cache);
        }
        // Ctrl-C is for the application, which may go on.
        let child = command.process_group(0).spawn().map_err(fails(&program.path))?;
        Ok(Arc::new(Helper {
            child: Mutex::new(child),
            folder,
            idle: Mutex::new(vec![first]),
            lost: OnceLock::new(),
            memories: Mutex::default(),
            buried: buried.clone(),
        }))
    }

    /// Whether it is of use.
    pub fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Asks for something, with bytes that go there and bytes that come back.
    pub fn call(&self, request: &Request, bytes: &[u8], into: &mut [u8]) -> Result<Reply, HalError> {
        // No message to a process that has ended: each call says why it was lost.
        if let Some(why) = self.lost.get() {
            return Err(loss(why));
        }
        match self.exchange(request, bytes, into) {
            Ok(Reply::Failed(Fault::OutOfMemory(size))) => Err(HalError::OutOfMemory(size)),
            Ok(Reply::Failed(Fault::BadCode(why))) => Err(HalError::BadCode(why)),
            Ok(Reply::Failed(Fault::Device(why))) => Err(HalError::Device(why)),
            Ok(Reply::Failed(Fault::Lost(why))) => Err(self.lose(why)),
            Ok(reply) => Ok(reply),
            // A connection that fails in the middle of a message cannot be used again, and mostly the helper has ended.
            Err(error) => Err(self.lose(format!("the process that owns the GPU ended: {error}"))),
        }
    }

    /// The same, for what has no answer but that it is done.
    pub fn order(&self, request: &Request, bytes: &[u8], into: &mut [u8]) -> Result<(), HalError> {
        self.call(request, bytes, into).map(drop)
    }

    fn exchange(&self, request: &Request, bytes: &[u8], into: &mut [u8]) -> io::Result<Reply> {
        // The lock is not held during the exchange, which may last as long as a kernel.
        let idle = self.idle.lock().pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => UnixStream::connect(self.folder.socket())?,
        };
        wire::send(&mut connection, request, bytes)?;
        let (reply, size) = wire::receive(&mut connection)?;
        // The bytes of a failed answer are not sent.
        if !matches!(reply, Reply::Failed(_)) {
            if size != into.len() {
                return Err(io::Error::other("an answer of another size"));
            }
            connection.read_exact(into)?;
        }
        // Only after a whole exchange: a connection with bytes left in it would answer the next request with them.
        self.idle.lock().push(connection);
        Ok(reply)
    }

    /// Ends it. The first reason stays.
    fn lose(&self, why: String) -> HalError {
        let why = self.lost.get_or_init(|| why);
        self.bury();
        self.end();
        loss(why)
    }

    fn end(&self) {
        // Without connections, the helper ends by itself, unless one of its threads waits for a kernel.
        self.idle.lock().clear();
        let mut child = self.child.lock();
        // A kernel that does not end keeps it from ending by itself.
        let _ = child.kill();
        let _ = child.wait();
        // A helper that was killed did not do it, and what the application still has of it keeps `self`.
        self.folder.remove();
    }

    /// Its memories become those of a lost helper.
    fn bury(&self) {
        // Both locks at once: memory is in one of the lists at any time, so that `free` and `has_memory` find it.
        self.buried.lock().append(&mut self.memories.lock());
    }

    /// Notes memory. Returns whether it can be used: an address of memory that was lost and is not freed cannot,
    /// because a launch, which has only addresses, could not tell the two apart.
    pub fn has_memory(&self, address: u64, size: u64) -> bool {
        let end = address.saturating_add(size.max(1));
        let below = self.buried.lock().range(..end).next_back().map(|(&start, &size)| start.saturating_add(size));
        if below.is_some_and(|end_of_lost| end_of_lost > address) {
            return false;
        }
        self.memories.lock().insert(address, size);
        // Another thread may have found the helper lost, and buried its memory, before this one was added.
        if self.is_lost() {
            self.bury();
        }
        true
    }

    /// Frees memory.
    pub fn free(&self, address: u64, object: u64) {
        if self.memories.lock().remove(&address).is_none() {
            self.buried.lock().remove(&address);
        }
        self.forget(object);
    }

    /// Lets go of an object. What is lost is gone already.
    pub fn forget(&self, object: u64) {
        let _ = self.call(&Request::Forget { object }, &[], &mut []);
    }

    /// Whether an address is in memory of this helper.
    pub fn knows(&self, address: u64) -> bool {
        let memories = self.memories.lock();
        memories.range(..=address).next_back().is_some_and(|(start, size)| address - start < *size)
    }
}

/// The error of every call since a helper was lost.
fn loss(why: &str) -> HalError {
    HalError::Device(format!("{why}; what was on the GPU is lost, and new contexts work"))
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::metadata;
    use std::os::unix::fs::MetadataExt;

    /// A helper whose process ends at once; its folder is there until it is dropped.
    fn helper() -> Arc<Helper> {
        Helper::start(&Program { path: "true".into(), cache: None }, &Arc::default()).unwrap()
    }

    #[test]
    fn each_helper_has_a_folder_that_nobody_guesses() {
        let helpers = [(); 8].map(|()| helper());
        let names: Vec<String> =
            helpers.iter().map(|h| h.folder.0.file_name().unwrap().to_str().unwrap().to_owned()).collect();
        let random: Vec<&str> = names.iter().map(|name| name.strip_prefix("cloom-gpu-").unwrap()).collect();
        assert!(random.iter().all(|name| name.len() >= 6), "{names:?}");
        assert!((0..random.len()).all(|i| !random[..i].contains(&random[i])), "{names:?}");
        let process = std::process::id().to_string();
        assert!(!names.iter().any(|name| name.contains(&process)), "{names:?}");
        let folders: Vec<PathBuf> = helpers.iter().map(|helper| helper.folder.0.clone()).collect();
        drop(helpers);
        assert!(!folders.iter().any(|folder| folder.exists()));
    }

    #[test]
    fn no_other_user_enters_a_helpers_folder() {
        let helper = helper();
        let (folder, me) = (&helper.folder.0, metadata("/proc/self").unwrap().uid());
        let about = metadata(folder).unwrap();
        assert_eq!((about.uid(), about.mode() & 0o7777), (me, 0o700));
        let is_there = |as_user: &[&str]| {
            let mut command = Command::new(as_user[0]);
            command.args(&as_user[1..]).args(["test", "-e"]).arg(folder.join("socket"));
            command.status().ok().map(|status| status.success())
        };
        assert_eq!(is_there(&["env"]), Some(true));
        let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
        match is_there(&nobody) {
            Some(seen) if me == 0 => assert!(!seen, "another user sees the socket"),
            _ => eprintln!("skipped: other users can only be played by root, with the program setpriv"),
        }
    }
}
