//! Runs code generation on a separate thread with a large stack, from which LLVM cannot end the process.
//!
//! LLVM recurses over its input, and the calling thread is the application's, with a stack of its choosing. And if LLVM
//! gives up ("cannot select") it calls a handler that must not return; here the handler reports the reason to the
//! waiting thread and sleeps for ever. That costs one thread's memory in a case that is a bug, instead of the
//! application.
//!
//! When the process exits, the exiting thread destroys LLVM's global data, which other threads may still use. So an
//! exit handler waits for running code generation and lets no new one begin.

use crate::Error;
use crate::target::IdleGuard;
use cloom_target::Target;
use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What most kernels need.
const ROOM: usize = 32 << 20;

/// Reserved only: pages are committed when touched.
const STACK: usize = 256 << 20;

thread_local! {
    /// Where to report that LLVM gave up.
    static REPORT: RefCell<Option<Sender<String>>> = const { RefCell::new(None) };
}

thread_local! {
    /// Whether this thread uses LLVM for the first time, which makes most of its global data. Of that nobody can make
    /// the rest if this thread gives up.
    static PREPARES: Cell<bool> = const { Cell::new(false) };
}

/// Code generations so far.
static USES: AtomicU32 = AtomicU32::new(0);
/// After so many, LLVM has made what global data it makes.
const TABLES_MADE: u32 = 16;

/// How many threads use LLVM, and whether the process ends.
static USERS: Mutex<Users> =
    Mutex::new(Users { count: 0, first: FirstUse::None, ending: false, forks: 0, torn: false });
static NONE_LEFT: Condvar = Condvar::new();
/// A fork, or the first use, is over.
static GOES_ON: Condvar = Condvar::new();

/// The end of the process waits so long at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// How far the first use of LLVM is, in which it makes most of its global data. All others wait for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstUse {
    None,
    UnderWay,
    Over,
}

struct Users {
    /// Who is at the first use is one all the time, and so is each code generation.
    count: usize,
    first: FirstUse,
    ending: bool,
    /// Forks that are under way: nobody begins meanwhile.
    forks: usize,
    /// LLVM's global data is half made, and nobody makes the rest: a fork lost the thread that did, or it had no
    /// memory.
    torn: bool,
}

fn users() -> MutexGuard<'static, Users> {
    // Two plain values are consistent even if a thread panicked.
    USERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leave() {
    let mut users = users();
    users.count -= 1;
    if users.count == 0 {
        NONE_LEFT.notify_all();
    }
}

extern "C" fn at_end() {
    let mut users = users();
    users.ending = true;
    // Longer than that is not waited: the process would seem to hang.
    drop(NONE_LEFT.wait_timeout_while(users, PATIENCE, |u| u.count > 0));
}

/// The handler of failed allocations of LLVM's own containers.
extern "C" fn out_of_memory(_: *mut c_void, _: *const c_char, _: bool) {
    give_up_for(c"there is no memory left");
}

/// Gives up what this thread is at, if it generates code: there is no memory for it. That can be anywhere, also where
/// global data is made.
pub fn give_up_for(reason: &CStr) {
    let generates = REPORT.with_borrow(Option::is_some);
    // Set before the report, which wakes the thread that holds `First`: who waits for it must find this.
    if generates && PREPARES.get() {
        users().torn = true;
    }
    give_up(reason.as_ptr());
}

unsafe extern "C" {
    /// `llvm::install_bad_alloc_error_handler`, which LLVM's C interface lacks.
    #[link_name = "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_"]
    fn install_bad_alloc_error_handler(handler: extern "C" fn(*mut c_void, *const c_char, bool), data: *mut c_void);
}

extern "C" fn give_up(reason: *const c_char) {
    let sender = REPORT.with_borrow_mut(Option::take);
    // On a thread that generates no code nobody waits for a report. LLVM ends the process when its handler returns.
    let Some(sender) = sender else { return };
    // SAFETY: LLVM passes a zero-terminated string.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    // If nobody receives the report, this still must not return.
    let _ = sender.send(reason);
    leave();
    drop(sender);
    loop {
        thread::park();
    }
}

/// The right to use LLVM for the first time, until it is dropped.
struct First;

impl First {
    /// Waits for the first use, if another thread is at it. `None` if it is over or cannot begin.
    fn take() -> Option<First> {
        let waits = |u: &mut Users| u.forks > 0 || u.first == FirstUse::UnderWay && !u.torn;
        let mut users = GOES_ON.wait_while(users(), waits).unwrap_or_else(PoisonError::into_inner);
        if users.first == FirstUse::Over || users.torn || users.ending {
            return None;
        }
        (users.first, users.count) = (FirstUse::UnderWay, users.count + 1);
        drop(users);
        install();
        Some(First)
    }
}

impl Drop for First {
    fn drop(&mut self) {
        wait_at_end();
        users().first = FirstUse::Over;
        GOES_ON.notify_all();
        leave();
    }
}

/// Runs `work` and gives its result, or what went wrong.
pub fn run<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    let first = if is_prepared() { None } else { First::take() };
    let result = run_apart(work, first.as_ref());
    drop(first);
    if USES.fetch_add(1, Ordering::Relaxed) < TABLES_MADE {
        wait_at_end();
    }
    result
}

/// Does `work` on this thread and initialises LLVM on another. It waits for both: the process must not exit during
/// LLVM's first use.
pub fn prepare_meanwhile<T>(target: &Target, work: impl FnOnce() -> T) -> T {
    if !may_prepare() {
        return work();
    }
    thread::scope(|scope| {
        // Without a thread, the first code generation prepares.
        let _ = thread::Builder::new().name("cloom-prepare".into()).spawn_scoped(scope, || prepare(target));
        work()
    })
}

/// Whether LLVM has been used.
pub fn is_prepared() -> bool {
    users().first == FirstUse::Over
}

/// Whether there is a first use to come or to wait for.
fn may_prepare() -> bool {
    let users = users();
    users.first != FirstUse::Over && !users.torn
}

/// Uses LLVM for the first time, if nobody has, for this target.
pub fn prepare(target: &Target) {
    if may_prepare()
        && let Some(first) = First::take()
    {
        // If it fails, so will what comes after it, and that is reported.
        let _ = run_apart(|| crate::warm_up::run(target), Some(&first));
    }
}

/// Before the first use.
fn install() {
    // SAFETY: installs functions that are never removed; only the first use calls this.
    unsafe {
        LLVMInstallFatalErrorHandler(Some(give_up));
        install_bad_alloc_error_handler(out_of_memory, std::ptr::null_mut());
    }
    wait_at_end();
}

/// Registers an exit handler that waits for code generation. Exit handlers run in reverse order of registration, so it
/// runs before the destructors of the global data that exists now. LLVM creates more on demand: so this is called
/// before the first use and after each of the first few.
fn wait_at_end() {
    // SAFETY: a function that is always there. If it cannot be registered, the exit does not wait.
    unsafe { libc::atexit(at_end) };
}

thread_local! {
    /// The locks that the forking thread holds over the fork, so that no other thread has them.
    static HELD: RefCell<Option<(MutexGuard<'static, Users>, IdleGuard)>> = const { RefCell::new(None) };
}

/// Before a `fork`: lets no code generation begin, and waits for the running ones, at most so long.
pub fn before_fork(limit: Duration) {
    // A thread that is exiting has nowhere to keep the locks; its child then takes its chance.
    if HELD.try_with(|_| ()).is_err() {
        return;
    }
    let mut users = users();
    // Before the wait, which releases the lock: nobody begins meanwhile.
    users.forks += 1;
    let waited = NONE_LEFT.wait_timeout_while(users, limit, |u| u.count > 0);
    let users = waited.unwrap_or_else(PoisonError::into_inner).0;
    HELD.set(Some((users, crate::target::lock_idle())));
}

/// After a `fork`, in the parent.
pub fn after_fork() {
    let Ok(Some((mut users, _idle))) = HELD.try_with(RefCell::take) else { return };
    users.forks -= 1;
    GOES_ON.notify_all();
}

/// After a `fork`, in the child, which has none of the threads that may have been at work. What they worked on is
/// theirs alone; only global data may be half made.
pub fn after_fork_in_child() {
    let Ok(Some((mut users, _idle))) = HELD.try_with(RefCell::take) else { return };
    // If all global data existed before, a thread that the child lacks worked on nothing but its own.
    let settled = users.first == FirstUse::Over && USES.load(Ordering::Relaxed) >= TABLES_MADE;
    users.torn |= users.count > 0 && !settled;
    (users.count, users.forks) = (0, 0);
}

/// Whether there is memory for the code of a kernel. C++ ends the process in more places than can be guarded, so that
/// code generation does not begin without it.
fn has_room() -> bool {
    let mut room = Vec::<u8>::new();
    // Without the black box, the optimiser may remove an allocation that nobody uses.
    room.try_reserve_exact(ROOM).is_ok() && std::hint::black_box(room).is_empty()
}

/// [`run`], when everything is set up.
fn run_apart<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send, first: Option<&First>) -> Result<T, Error> {
    let is_first = first.is_some();
    {
        // A fork waits for the first use to be over.
        let waits = |u: &mut Users| u.forks > 0 && !is_first;
        let mut users = GOES_ON.wait_while(users(), waits).unwrap_or_else(PoisonError::into_inner);
        if users.ending {
            return Err(Error::Limit("the process is ending".into()));
        }
        if users.torn {
            return Err(Error::Limit("a fork or a lack of memory interrupted the preparation of the compiler".into()));
        }
        users.count += 1;
    }
    if !has_room() {
        leave();
        return Err(Error::Limit("there is no memory for code generation".into()));
    }
    let (report, reported) = channel::<String>();
    let (done, result) = channel::<Result<T, Error>>();
    let body = move || {
        REPORT.with_borrow_mut(|r| *r = Some(report));
        PREPARES.set(is_first);
        let outcome = catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(Error::Internal("the compiler panicked".into())));
        leave();
        let _ = done.send(outcome);
        REPORT.with_borrow_mut(|r| *r = None);
    };
    let body: Box<dyn FnOnce() + Send + '_> = Box::new(body);
    // SAFETY: the borrows in `body` are used by the thread until it ends or until it parks for ever in `give_up`. This
    // function returns only after one of the two: it waits for the channel of reports, whose sender is dropped at the
    // thread's end or in `give_up`, where everything borrowed was used for the last time.
    let body: Box<dyn FnOnce() + Send + 'static> = unsafe { std::mem::transmute(body) };
    let handle = thread::Builder::new().name("cloom-codegen".into()).stack_size(STACK).spawn(body).map_err(|e| {
        leave();
        Error::Limit(format!("no thread for code generation: {e}"))
    })?;
    match reported.recv() {
        Ok(reason) => Err(Error::Internal(reason)),
        // The sender is gone without a report: the work is done.
        Err(_) => {
            // Neither a panic (caught) nor a lost result is possible here; both would be the same error.
            let _ = handle.join();
            result.recv().unwrap_or_else(|_| Err(Error::Internal("code generation gave no result".into())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn giving_up_and_panics_are_errors_and_the_process_lives() {
        let fatal: Result<(), Error> = run(|| {
            give_up(c"cannot select".as_ptr());
            Ok(())
        });
        assert_eq!(fatal, Err(Error::Internal("cannot select".into())));
        let panicked: Result<(), Error> = run(|| panic!("on purpose"));
        assert!(matches!(panicked, Err(Error::Internal(_))));
        let local = String::from("abc");
        assert_eq!(run(|| Ok(local.len())), Ok(3));
    }
}
