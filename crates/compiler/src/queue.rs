//! Background compilation: threads that compile queued kernels of executables in order.
//!
//! Threads exist while there is work, so that an idle process has none and nothing needs to be stopped at its end. Work
//! of an executable that was dropped is skipped.
//!
//! On a machine with no free core, a new thread gets a core late and shares it with another program's thread, while the
//! thread that requested the code has a core already and will soon only wait. So work *rests* in the queue for [`REST`]
//! then: if a thread needs the kernel meanwhile, it takes the work out and compiles it itself ([`Queue::take`]).
//! (Mandelbrot, first result beside as many busy threads as cores, 16 cores: 129 ms when a background thread compiled,
//! 106 when the calling thread did, 100 without baseline code.)
//!
//! Around a `fork` the queue is paused. Otherwise the child could have a kernel that a thread had begun to compile, and
//! the child does not have that thread.

use crate::key::SpecializationKey;
use crate::load;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long work rests if no core is free: some time slices. Baseline code is compiled and has run for a while by then.
pub const REST: Duration = Duration::from_millis(20);

/// What the threads compile the kernels of: an executable.
pub trait Prepare: Send + Sync {
    /// Compiles a kernel if that has not been done.
    fn prepare(&self, kernel: usize, key: SpecializationKey);
}

/// A kernel to compile.
struct Task {
    executable: Weak<dyn Prepare>,
    kernel: usize,
    key: SpecializationKey,
    /// No background thread begins with it before this time.
    rests_until: Option<Instant>,
}

impl Task {
    fn is<T>(&self, executable: *const T, kernel: usize, key: &SpecializationKey) -> bool {
        // The address identifies an executable also when that was dropped: the weak reference keeps the memory from
        // being used for another one.
        self.kernel == kernel && self.key == *key && std::ptr::addr_eq(self.executable.as_ptr(), executable)
    }
}

/// The work, and the threads that do it.
#[derive(Default)]
pub struct Queue {
    limit: usize,
    /// The cores that the process may use, to see whether one is free; 0: it is not checked.
    cores: usize,
    work: Mutex<VecDeque<Task>>,
    /// The work has changed, or a pause begins.
    changed: Condvar,
    /// Threads that work. It changes under the lock; a child of `fork`, which may take no lock yet, reads it without.
    threads: AtomicUsize,
    /// While this is not 0, threads end after the kernel that they compile, and none is started. Changed like
    /// `threads`.
    pauses: AtomicUsize,
    /// The last thread has ended.
    idle: Condvar,
}

impl Queue {
    /// A queue with at most `limit` threads, for a process with this many cores (0: it is not checked whether one is
    /// free).
    pub fn new(limit: usize, cores: usize) -> Arc<Self> {
        Arc::new(Self { limit, cores, ..Self::default() })
    }

    /// Whether there are background threads.
    pub fn is_active(&self) -> bool {
        self.limit > 0
    }

    /// Adds a kernel of an executable.
    pub fn push(self: &Arc<Self>, executable: &Arc<impl Prepare + 'static>, kernel: usize, key: SpecializationKey) {
        self.add(executable, kernel, key, false);
    }

    /// Moves a kernel of an executable to the front of the queue, or adds it there. Whether it rests there.
    pub fn hurry(
        self: &Arc<Self>,
        executable: &Arc<impl Prepare + 'static>,
        kernel: usize,
        key: SpecializationKey,
    ) -> bool {
        self.add(executable, kernel, key, true)
    }

    fn add(
        self: &Arc<Self>,
        executable: &Arc<impl Prepare + 'static>,
        kernel: usize,
        key: SpecializationKey,
        first: bool,
    ) -> bool {
        if self.limit == 0 {
            return false;
        }
        // Before the lock, because it reads a file.
        let is_busy = self.cores > 0 && !load::has_free_core(self.cores);
        let rests_until = is_busy.then(|| Instant::now() + REST);
        let mut work = self.work.lock();
        let waits = work.iter().position(|task| task.is(Arc::as_ptr(executable), kernel, &key));
        let executable = Arc::downgrade(executable) as Weak<dyn Prepare>;
        let task = Task { executable, kernel, key, rests_until };
        match waits {
            Some(at) if first => {
                // The task is made anew, because its rest begins now.
                work.remove(at);
                work.push_front(task);
            }
            Some(_) => {}
            None if first => work.push_front(task),
            None => work.push_back(task),
        }
        self.changed.notify_all();
        self.start_threads(work.len());
        is_busy
    }

    /// Removes a kernel of an executable that no thread has begun to compile, for the caller to do it. False if there
    /// is none.
    pub fn take(&self, executable: &impl Prepare, kernel: usize, key: &SpecializationKey) -> bool {
        let mut work = self.work.lock();
        let waits = work.iter().position(|task| task.is(executable, kernel, key));
        waits.and_then(|at| work.remove(at)).is_some()
    }

    /// Starts threads for so much work, under the lock.
    fn start_threads(self: &Arc<Self>, work: usize) {
        while self.pauses.load(Ordering::Relaxed) == 0 && self.threads.load(Ordering::Relaxed) < self.limit.min(work) {
            let queue = self.clone();
            let builder = std::thread::Builder::new().name("cloom-compile".into());
            // Without threads everything is compiled when it is asked for.
            if builder.spawn(move || queue.run()).is_err() {
                break;
            }
            // After the thread began, but under the lock: the thread takes the lock before it can count itself out.
            self.threads.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn run(&self) {
        loop {
            let Some(task) = self.next() else { return };
            if let Some(executable) = task.executable.upgrade() {
                executable.prepare(task.kernel, task.key);
            }
        }
    }

    /// The first work that does not rest; waits while all work rests. `None` if the calling thread should end.
    fn next(&self) -> Option<Task> {
        let mut work = self.work.lock();
        loop {
            let is_paused = self.pauses.load(Ordering::Relaxed) > 0;
            if is_paused || work.is_empty() {
                // The thread counts itself out under the lock under which it saw no work. So work that comes later
                // finds the lower count and starts a thread.
                if self.threads.fetch_sub(1, Ordering::Relaxed) == 1 {
                    self.idle.notify_all();
                }
                return None;
            }
            let now = Instant::now();
            if let Some(at) = work.iter().position(|task| task.rests_until.is_none_or(|until| until <= now)) {
                return work.remove(at);
            }
            // All work rests. New work and a pause end the wait early.
            if let Some(first) = work.iter().filter_map(|task| task.rests_until).min() {
                self.changed.wait_until(&mut work, first);
            }
        }
    }

    /// Before a `fork`: lets threads end, each after the kernel that it compiles, and waits for that for at most
    /// `limit`.
    pub fn pause(&self, limit: Duration) {
        let mut work = self.work.lock();
        self.pauses.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_all();
        let is_busy = |_: &mut _| self.threads.load(Ordering::Relaxed) > 0;
        // The lock is given back during the wait, so that threads can take it to count themselves out.
        self.idle.wait_while_for(&mut work, is_busy, limit);
    }

    /// After a `fork`, in the parent: goes on.
    pub fn resume(self: &Arc<Self>) {
        let work = self.work.lock();
        self.pauses.fetch_sub(1, Ordering::Relaxed);
        self.start_threads(work.len());
    }

    /// After a `fork`, in the child: compiles again when there is work. Returns false if a thread was compiling: the
    /// child does not have that thread, so its kernel will never be ready.
    pub fn resume_in_child(&self) -> bool {
        // The child has the forking thread only, so that no other fork is under way.
        self.pauses.store(0, Ordering::Relaxed);
        self.threads.load(Ordering::Relaxed) == 0
    }
}
