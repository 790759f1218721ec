//! Payloads of semaphores that processes share: an `eventfd` of Linux, whose descriptor is the handle of type
//! `CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR`. Its counter is 0, or there is a signal; reading takes all of it.
//!
//! Waits are commands that no thread is blocked for. One thread, `cloom-watch`, waits for all descriptors that some
//! wait wants to be signalled. It ends when there is none.

use cloom_hal::lock::Mutex;
use cloom_runtime::{Error, Payload, Result, Status, Taken};
use std::os::fd::RawFd;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The error of a call that the system refused.
fn system_error(what: &str) -> Error {
    Error::new(Status::OutOfResources, format!("{what}: {}", std::io::Error::last_os_error()))
}

/// An `eventfd`.
pub struct EventFd {
    fd: RawFd,
    /// Whether it is ours to close.
    is_owned: AtomicBool,
    /// Whether the system does not know the descriptor any more: the application has closed what is ours.
    is_gone: AtomicBool,
}

impl EventFd {
    fn of(fd: RawFd, is_owned: bool) -> Arc<EventFd> {
        Arc::new(EventFd { fd, is_owned: AtomicBool::new(is_owned), is_gone: AtomicBool::new(false) })
    }

    /// A new one, without a signal.
    pub fn new() -> Result<Arc<EventFd>> {
        // SAFETY: no pointers.
        match unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) } {
            fd if fd >= 0 => Ok(EventFd::of(fd, true)),
            _ => Err(system_error("eventfd")),
        }
    }

    /// One that the application gives; it keeps the descriptor until [`EventFd::adopt`].
    pub fn of_application(fd: u64) -> Result<Arc<EventFd>> {
        // The descriptor may be anything: reading from a file or socket of the application would take its data.
        let is_one = |fd: &RawFd| {
            let target = std::fs::read_link(format!("/proc/self/fd/{fd}"));
            target.is_ok_and(|target| target.as_os_str() == "anon_inode:[eventfd]")
        };
        match RawFd::try_from(fd as i64).ok().filter(is_one) {
            Some(fd) => Ok(EventFd::of(fd, false)),
            None => {
                let why = format!("{} is not the descriptor of a semaphore", fd as i64);
                Err(Error::new(Status::InvalidProperty, why))
            }
        }
    }

    /// Takes the application's descriptor over.
    pub fn adopt(&self) {
        // SAFETY: no pointers. A read that finds nothing must not block.
        unsafe { libc::fcntl(self.fd, libc::F_SETFL, libc::O_RDWR | libc::O_NONBLOCK) };
        self.is_owned.store(true, Ordering::Release);
    }

    /// Another descriptor of the same, for the application.
    pub fn duplicate(&self) -> Result<RawFd> {
        // SAFETY: no pointers.
        match unsafe { libc::fcntl(self.fd, libc::F_DUPFD_CLOEXEC, 0) } {
            fd if fd >= 0 => Ok(fd),
            _ => Err(system_error("a descriptor for a semaphore")),
        }
    }

    /// The result of a wait, if it has ended.
    fn outcome(&self) -> Option<Result<()>> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Some(Err(Error::new(Status::OutOfResources, "the descriptor of a semaphore has been closed")));
        }
        self.try_take().then_some(Ok(()))
    }

    /// Takes the signal. False if there is none.
    fn try_take(&self) -> bool {
        let mut count = 0u64;
        // SAFETY: room for the eight bytes that are read.
        unsafe { libc::read(self.fd, (&raw mut count).cast(), 8) == 8 }
    }
}

impl Drop for EventFd {
    fn drop(&mut self) {
        if self.is_owned.load(Ordering::Acquire) {
            // SAFETY: it is ours, and nothing uses it any more.
            unsafe { libc::close(self.fd) };
        }
    }
}

impl Payload for EventFd {
    fn signal(&self) -> Result<()> {
        let one = 1u64;
        // SAFETY: eight bytes to write. A counter that is full has a signal.
        match unsafe { libc::write(self.fd, (&raw const one).cast(), 8) } {
            8 => Ok(()),
            _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock => Ok(()),
            _ => Err(system_error("a signal of a semaphore")),
        }
    }

    fn is_signalled(&self) -> bool {
        let mut poll = libc::pollfd { fd: self.fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which is written.
        unsafe { libc::poll(&raw mut poll, 1, 0) == 1 && poll.revents & libc::POLLIN != 0 }
    }

    fn take(self: Arc<Self>, taken: Taken) {
        // Mostly the signal is there: no thread is needed.
        if let Some(result) = self.outcome() {
            return taken(result);
        }
        // Not in the condition, which would hold the lock during the callback: that may wait for another signal.
        let refused = WATCHER.lock().add(self, taken);
        if let Some(taken) = refused {
            taken(Err(Error::new(Status::OutOfHostMemory, "there is no thread that waits for semaphores")));
        }
    }
}

/// What the thread waits for.
struct Watcher {
    waiting: Vec<(Arc<EventFd>, Taken)>,
    /// Wakes the thread when there is more to wait for; `None` if there is no thread.
    wake: Option<Arc<EventFd>>,
    /// The process of the thread: the child of a `fork` does not have it.
    process: u32,
}

static WATCHER: Mutex<Watcher> = Mutex::new(Watcher { waiting: Vec::new(), wake: None, process: 0 });

impl Watcher {
    /// Waits for a signal. Returns the callback if that is impossible.
    fn add(&mut self, fd: Arc<EventFd>, taken: Taken) -> Option<Taken> {
        if self.process != process::id() {
            // What the parent waits for is its own affair.
            std::mem::take(&mut self.waiting).into_iter().for_each(std::mem::forget);
            (self.wake, self.process) = (None, process::id());
        }
        match &self.wake {
            Some(wake) => _ = wake.signal(),
            None => {
                let Ok(wake) = EventFd::new() else { return Some(taken) };
                let of_thread = wake.clone();
                let thread = std::thread::Builder::new().name("cloom-watch".into());
                if thread.spawn(move || watch(&of_thread)).is_err() {
                    return Some(taken);
                }
                self.wake = Some(wake);
            }
        }
        self.waiting.push((fd, taken));
        None
    }
}

/// The thread: takes signals as they come, until nobody waits.
fn watch(wake: &EventFd) {
    loop {
        let mut watcher = WATCHER.lock();
        let mut ended = Vec::new();
        // In the order of the waits: of two waits for one descriptor, the first takes the signal.
        for (fd, call) in std::mem::take(&mut watcher.waiting) {
            match fd.outcome() {
                Some(result) => ended.push((call, result)),
                None => watcher.waiting.push((fd, call)),
            }
        }
        if watcher.waiting.is_empty() && ended.is_empty() {
            // Under the lock: a later `add` starts another thread, an earlier one left an entry that was seen above.
            watcher.wake = None;
            return;
        }
        let fds: Vec<Arc<EventFd>> = watcher.waiting.iter().map(|(fd, _)| fd.clone()).collect();
        drop(watcher);
        if !ended.is_empty() {
            // Without the lock, because a callback may wait for another signal; then the list is looked at again.
            ended.into_iter().for_each(|(call, result)| call(result));
            continue;
        }
        let entry = |fd: RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // `wake` comes first: `add` signals it, so that the thread takes up the new entry.
        let mut polls: Vec<libc::pollfd> =
            std::iter::once(wake.fd).chain(fds.iter().map(|f| f.fd)).map(entry).collect();
        // SAFETY: so many entries, whose descriptors `wake` and `fds` keep open.
        unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, -1) };
        for (fd, poll) in fds.iter().zip(&polls[1..]) {
            fd.is_gone.fetch_or(poll.revents & (libc::POLLNVAL | libc::POLLERR) != 0, Ordering::Relaxed);
        }
        wake.try_take();
    }
}
