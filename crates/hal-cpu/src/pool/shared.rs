//! The hand-off protocol: how a job reaches idle threads, and how its owner learns of its end.
//!
//! ```text
//! owner                             worker
//! ─────                             ──────
//! list: open += 1, jobs.push        mailbox.enter: mode = Spinning
//! offer: mode == Spinning?  ──job─▶ find_open: open > 0? a job of the list
//!        mode == Asleep?    ─unpark▶ else spin, then sleep in the mailbox
//! run: claim chunks, if it joins    run: claim chunks
//! wait: spin, then park     ◀unpark─ the thread that ends the last chunk
//! unlist
//! ```
//!
//! The first lines of both sides are sequentially consistent with the second ones: an owner that finds nobody spinning
//! or asleep has listed its job for all that come later. A thread that has entered its mailbox and found no job in the
//! list will be seen by every owner that comes later. So a job is never left alone while its owner waits.
//!
//! Lock order: a mailbox's content is locked under [`Shared::waiters`], or under no lock. [`Shared::jobs`] is never
//! held with another lock. No lock is held while a chunk runs, or while a thread spins, parks or is unparked.

use super::cores::{self, Cores};
use super::job::Job;
use super::mailbox::{Mailbox, Mode};
use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Clock, Mutex, Ordering, park, spin};
use cloom_hal::TUNING;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// State shared by the threads of a pool and the owners of jobs.
pub struct Shared {
    /// Jobs that have not ended, the oldest first.
    jobs: Mutex<Vec<Arc<Job>>>,
    /// How many of them have chunks to claim, so that the list is not searched in vain.
    open: AtomicUsize,
    stop: AtomicBool,
    /// Each worker's mailbox.
    pub mailboxes: Box<[Mailbox]>,
    waiters: Mutex<Waiters>,
    pub cores: Option<Cores>,
    /// How many cores the threads may use.
    core_count: usize,
    clock: Clock,
    /// When a job that had all cores last ended.
    all_cores: AtomicU64,
}

/// Which sleeping threads a job is offered to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// None: it would have ended when they come.
    Nobody,
    /// Those that came in time when they were last woken.
    Punctual,
    /// All.
    Everybody,
}

/// The mailboxes of threads that are no workers and wait for the end of a queue's commands, spinning.
#[derive(Default)]
struct Waiters {
    used: Vec<Arc<Mailbox>>,
    free: Vec<Arc<Mailbox>>,
}

impl Shared {
    /// For so many workers on so many cores; on one, nobody comes while another thread runs.
    pub fn new(workers: usize, cores: Option<Cores>, core_count: usize, clock: Clock) -> Shared {
        Shared {
            jobs: Mutex::new(Vec::new()),
            open: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            mailboxes: (0..workers).map(|_| Mailbox::new(clock, core_count <= 1)).collect(),
            waiters: Mutex::new(Waiters::default()),
            cores,
            core_count,
            clock,
            all_cores: AtomicU64::new(0),
        }
    }

    /// Adds a job to the list, before it is offered.
    pub fn list(&self, job: &Arc<Job>) {
        let mut jobs = self.jobs.lock();
        // Before the job can be found: a thread that finds it may be the one to count it off.
        self.open.fetch_add(1, Ordering::SeqCst);
        jobs.push(job.clone());
    }

    /// Removes a job from the list, when it has ended.
    pub fn unlist(&self, job: &Arc<Job>) {
        // A thread that was woken meanwhile could not come: its delay is no sign of other processes.
        if job.joined() >= self.core_count {
            self.all_cores.store(self.clock.now(), Ordering::Relaxed);
        }
        self.jobs.lock().retain(|j| !Arc::ptr_eq(j, job));
    }

    /// Whether jobs have had all cores at some moment since then: a thread that was woken then could not come.
    pub fn had_all_cores(&self, since: u64) -> bool {
        self.all_cores.load(Ordering::Relaxed) >= since
            || self.jobs.lock().iter().map(|job| job.joined()).sum::<usize>() >= self.core_count
    }

    /// How long threads that wait for the end of others' work spin.
    fn spin_time(&self) -> Duration {
        if self.core_count <= 1 { TUNING.contended_spin_time } else { TUNING.spin_time }
    }

    /// Offers a job to `wanted` threads: those that spin and, as `wake` says, those that sleep. Returns how many will
    /// look at it.
    pub fn offer(&self, job: &Arc<Job>, wanted: usize, wake: Wake) -> usize {
        let mut offered = 0;
        if wanted > 0 && job.queue != 0 {
            for mailbox in self.waiters.lock().used.iter().filter(|m| m.queue() == job.queue) {
                // One on the owner's core is told, so that it leaves the core, but does not count.
                offered += usize::from(mailbox.offer(job, Mode::Spinning) && mailbox.thread_and_core().1 != job.core);
            }
        }
        // In a fixed order, so that the same ones stay awake: the others may sleep deeply.
        for mode in [Mode::Spinning, Mode::Asleep].into_iter().take(if wake == Wake::Nobody { 1 } else { 2 }) {
            for mailbox in &self.mailboxes {
                if offered >= wanted {
                    return offered;
                }
                if mailbox.mode() == mode {
                    if mode == Mode::Asleep {
                        if wake == Wake::Punctual && mailbox.contention.is_contended(|woken| self.had_all_cores(woken))
                        {
                            continue;
                        }
                        // Before the wake-up: afterwards the system has queued the thread already, perhaps behind the
                        // owner.
                        self.keep_off(mailbox, job.core);
                    }
                    offered += usize::from(mailbox.offer(job, mode));
                }
            }
        }
        offered
    }

    /// Runs chunks of a job that this thread has joined; see [`Job::run`].
    pub fn run(&self, job: &Job, between: impl FnMut(u64, Instant)) {
        if job.run(between) {
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The owner waits for the end of its job.
    pub fn wait(&self, job: &Job) {
        if !job.is_finished() && !spin(self.spin_time(), || job.is_finished()) {
            // The unpark of the last chunk is not lost if it comes before `park`, which then returns at once. It may
            // also return without reason, therefore the loop.
            while !job.is_finished() {
                park();
            }
        }
    }

    /// A worker, until [`stop`](Self::stop).
    pub fn work(&self, mailbox: &Mailbox) {
        let stop = || self.stop.load(Ordering::Acquire);
        while !stop() {
            mailbox.enter(0);
            // Jobs that were listed before this thread was seen to spin.
            let listed = self.find_open(|_| true);
            if listed.is_none() && !spin(mailbox.contention.spin_time(), || mailbox.filled() || stop()) {
                mailbox.sleep(stop);
                mailbox.contention.slept(|woken| self.had_all_cores(woken));
            }
            // The offered job comes first: its owner counts on this thread. The listed one is then left to others, or
            // found again.
            if let Some(job) = mailbox.leave().or(listed) {
                self.stay_off(job.core);
                if job.join() {
                    self.run(&job, |_, _| ());
                    mailbox.contention.worked();
                }
            }
        }
    }

    /// Makes workers end. They have to be unparked after this.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Spins for at most `time`, until `done` holds or there is a job of this queue to run chunks of; runs them until
    /// none is left to claim. Returns whether either happened.
    pub fn assist(&self, queue: u64, done: &dyn Fn() -> bool, time: Duration) -> bool {
        // In the mailbox before the list is searched, as a worker: an owner that lists its job later will see this
        // thread.
        let mailbox = self.add_waiter(queue);
        let listed = self.find_open(|j| j.queue == queue);
        let came = listed.is_some() || spin(time.min(self.spin_time()), || mailbox.filled() || done());
        let came = match mailbox.leave().or(listed) {
            // On the owner's core it would only compete with the owner.
            Some(job) if job.core >= 0 && job.core == cores::here() => false,
            Some(job) if !done() && job.join() => {
                self.run(&job, |_, _| ());
                true
            }
            // If others have taken all slots meanwhile, only the end is left to wait for.
            Some(_) => done(),
            None => came,
        };
        self.remove_waiter(mailbox);
        came
    }

    /// The oldest job that a thread could join, of those that are `wanted`.
    fn find_open(&self, wanted: impl Fn(&Job) -> bool) -> Option<Arc<Job>> {
        if self.open.load(Ordering::SeqCst) == 0 {
            return None;
        }
        self.jobs.lock().iter().find(|j| j.is_open() && wanted(j)).cloned()
    }

    /// A mailbox for a thread that waits, which spins from now on.
    fn add_waiter(&self, queue: u64) -> Arc<Mailbox> {
        let mut waiters = self.waiters.lock();
        let mailbox = waiters.free.pop().unwrap_or_else(|| Arc::new(Mailbox::new(self.clock, false)));
        mailbox.enter(queue);
        waiters.used.push(mailbox.clone());
        mailbox
    }

    /// Takes back a mailbox that its thread has left.
    fn remove_waiter(&self, mailbox: Arc<Mailbox>) {
        let mut waiters = self.waiters.lock();
        waiters.used.retain(|m| !Arc::ptr_eq(m, &mailbox));
        waiters.free.push(mailbox);
    }

    /// Keeps the worker of a mailbox off a core, if it sleeps there.
    fn keep_off(&self, mailbox: &Mailbox, core: i32) {
        let (thread, place) = mailbox.thread_and_core();
        if let Some(cores) = self.cores.as_ref().filter(|_| core >= 0 && place == core) {
            cores.keep_off(thread, core);
        }
    }

    /// Moves this thread away from a core, if it is there.
    pub fn stay_off(&self, core: i32) {
        if let Some(cores) = self.cores.as_ref().filter(|_| core >= 0 && core == cores::here()) {
            cores.keep_off(cores::this_thread(), core);
        }
    }
}
