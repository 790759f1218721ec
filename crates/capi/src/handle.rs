//! Handles: the application's references to objects.
//!
//! A handle is the address of a small block whose first word is the dispatch table, as the ICD loader requires. Blocks
//! lie in a few large arrays that are never freed, so a lookup is arithmetic: an address is a handle if it is that of a
//! block in use, and any other address is an invalid object, and never dereferenced.
//!
//! ```text
//! CHUNKS  ─▶ [block block …]        256 blocks
//!         ─▶ [block block block …]  512, and so on
//! block   =  dispatch table, loader's word, object while the application holds it | lock: references, weak reference
//! ```
//!
//! The application's reference count is separate from the references of the runtime: a handle is valid while either
//! exists, because the specification lets an application continue to use, say, the context of its queue. Blocks are
//! reused only after many others, so that the loader may read a stale handle and its use is mostly an error.
//!
//! The child of a `fork` has a table of its own: the objects of its parent need threads that it does not have, and
//! may be locked by them. Their blocks stay where they are, for the loader.

use crate::dispatch;
use cloom_hal::lock::Mutex;
use cloom_runtime::{
    CommandBuffer, Context, Device, Error, Event, ExternalSlot, Kernel, LaunchChecker, MemObject, MutableCommand,
    NewObject, Platform, Program, Queue, Result, Sampler, Semaphore, Status,
};
use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// The target of a handle.
#[repr(C, align(64))]
struct Block {
    /// The dispatch table.
    dispatch: AtomicPtr<c_void>,
    /// What the loader keeps with each object of the platform (`cl_khr_icd` 2).
    dispatch_data: AtomicPtr<c_void>,
    /// The [`Object::KIND`] of `held`.
    kind: AtomicU8,
    /// The object, as `Arc::into_raw` gives it, while the application has references; else null.
    held: AtomicPtr<()>,
    /// What the handle refers to; `None` while it is no handle.
    entry: Mutex<Option<Entry>>,
}

/// A handle of an object of type `T`, as the application passes it: possibly any pointer.
#[repr(transparent)]
pub struct Handle<T>(usize, PhantomData<fn() -> T>);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> Handle<T> {
    /// No object.
    pub const NULL: Handle<T> = Handle(0, PhantomData);

    pub fn is_null(self) -> bool {
        self.0 == 0
    }
}

/// A type of objects with handles.
pub trait Object: Any + Send + Sync + Sized {
    /// The status for an invalid handle of this type.
    const INVALID: Status;
    /// Its name in messages,
    const NAME: &'static str;
    /// and with an article.
    const NOUN: &'static str;
    /// The external slot that keeps the object's handle.
    fn external(&self) -> &ExternalSlot;
    /// The context whose callback gets errors.
    fn context(this: &Arc<Self>) -> Option<Arc<Context>>;
    /// A number that no other type has.
    const KIND: u8;
    fn wrap(references: References<Self>) -> Entry;
    fn unwrap(entry: &mut Entry) -> Option<&mut References<Self>>;
}

/// The references to an object that a handle stands for.
pub struct References<T> {
    object: Weak<T>,
    /// The application's references, and the object while there are any.
    count: u32,
    held: Option<Arc<T>>,
}

impl<T> References<T> {
    fn get(&self) -> Option<Arc<T>> {
        self.held.clone().or_else(|| self.object.upgrade())
    }
}

/// Types, for [`Object::KIND`].
#[repr(u8)]
enum Kind {
    Platform,
    Device,
    Context,
    Queue,
    MemObject,
    Program,
    Kernel,
    Event,
    Sampler,
    CommandBuffer,
    MutableCommand,
    Semaphore,
}

macro_rules! objects {
    ($($ty:ident $invalid:ident $article:literal $name:literal |$this:ident| $context:expr;)*) => {
        /// What the handle of a block refers to.
        pub enum Entry { $($ty(References<$ty>),)* }

        $(impl Object for $ty {
            const INVALID: Status = Status::$invalid;
            const NAME: &'static str = $name;
            const NOUN: &'static str = concat!($article, " ", $name);
            const KIND: u8 = Kind::$ty as u8;

            fn external(&self) -> &ExternalSlot {
                &self.external
            }

            fn context($this: &Arc<Self>) -> Option<Arc<Context>> {
                $context
            }

            fn wrap(references: References<Self>) -> Entry {
                Entry::$ty(references)
            }

            fn unwrap(entry: &mut Entry) -> Option<&mut References<Self>> {
                match entry { Entry::$ty(references) => Some(references), _ => None }
            }
        })*
    };
}

objects! {
    Platform InvalidPlatform "a" "platform" |_p| None;
    Device InvalidDevice "a" "device" |_d| None;
    Context InvalidContext "a" "context" |c| Some(c.clone());
    Queue InvalidCommandQueue "a" "command queue" |q| Some(q.context().clone());
    MemObject InvalidMemObject "a" "memory object" |b| Some(b.context().clone());
    Program InvalidProgram "a" "program" |p| Some(p.context().clone());
    Kernel InvalidKernel "a" "kernel" |k| Some(k.program().context().clone());
    Event InvalidEvent "an" "event" |e| Some(e.context().clone());
    Sampler InvalidSampler "a" "sampler" |s| Some(s.context().clone());
    CommandBuffer InvalidCommandBuffer "a" "command buffer" |b| Some(b.context().clone());
    Semaphore InvalidSemaphore "a" "semaphore" |s| Some(s.context().clone());
    MutableCommand InvalidMutableCommand "a" "mutable command" |c| Some(c.command_buffer().ok()?.context().clone());
}

/// Blocks of the first chunk. Each further one has twice as many.
const FIRST_CHUNK: usize = 256;

/// All handles of a process.
struct Table {
    /// The arrays of blocks. There are enough for all handles that memory has room for.
    chunks: [OnceLock<Box<[Block]>>; 32],
    free: Mutex<Free>,
    /// Addresses of platform and devices that the parent of this process gave out, each with the block that stands for
    /// it here.
    inherited: Vec<(usize, Block)>,
    /// The handles of the parent: its objects are not here.
    parent: Option<&'static Table>,
    /// What hears of objects that the application makes and releases.
    checker: OnceLock<Arc<dyn LaunchChecker>>,
}

impl Table {
    const fn new() -> Table {
        let free = Mutex::new(Free { used: VecDeque::new(), next: (0, 0) });
        Table {
            chunks: [const { OnceLock::new() }; 32],
            free,
            inherited: Vec::new(),
            parent: None,
            checker: OnceLock::new(),
        }
    }

    /// The block at an address, if there is one.
    fn block_at(&self, address: usize) -> Option<&Block> {
        for chunk in &self.chunks {
            // The chunks are made in order: behind the first that is missing there is none.
            let Some(blocks) = chunk.get() else { break };
            // An address below the array wraps around to an offset beyond its end.
            let offset = address.wrapping_sub(blocks.as_ptr().addr());
            if offset < size_of_val(&**blocks) {
                return blocks.get(offset / size_of::<Block>()).filter(|_| offset.is_multiple_of(size_of::<Block>()));
            }
        }
        // After a fork, the addresses of platform and devices are in the parent's chunks, and stand for the child's
        // objects.
        self.inherited.iter().find(|(known, _)| *known == address).map(|(_, block)| block)
    }

    /// Whether an address is that of a block of a process that this one is a fork of.
    fn is_of_parent(&self, address: usize) -> bool {
        let parents = std::iter::successors(self.parent, |table| table.parent);
        parents.into_iter().any(|table| table.block_at(address).is_some())
    }
}

static FIRST: Table = Table::new();
/// The table of a child that started afresh; null: the first one.
static FRESH: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());

fn table() -> &'static Table {
    // SAFETY: null, or a table that was leaked.
    unsafe { FRESH.load(Ordering::Acquire).as_ref() }.unwrap_or(&FIRST)
}

fn checker() -> Option<&'static Arc<dyn LaunchChecker>> {
    table().checker.get()
}

/// In the child of a fork, which has one thread: leaves all handles to the parent, except that those of platform and
/// devices will stand for the child's own. Where the parent had not made its platform, they are those of its own
/// parent, if it had any. Takes no lock.
pub fn leave_to_parent(platform: Option<&Arc<Platform>>) {
    let old = table();
    let address = |external: &ExternalSlot| external.get::<Owned>().and_then(|owned| owned.address).unwrap_or(0);
    // The platform comes first, then the devices in their order: `inherit` takes them over by position.
    let addresses: Vec<usize> = match platform {
        Some(platform) => {
            let devices = platform.devices().iter().map(|device| address(&device.external));
            std::iter::once(address(&platform.external)).chain(devices).collect()
        }
        None => old.inherited.iter().map(|&(address, _)| address).collect(),
    };
    let inherited = addresses.into_iter().map(|address| (address, Block::new())).collect();
    let new = Table { inherited, parent: Some(old), ..Table::new() };
    // The old table is not freed: the loader may still read the parent's handles.
    FRESH.store(Box::leak(Box::new(new)), Ordering::Release);
}

/// Begins with a new platform: gives it and its devices the handles that the parent of this process gave out for its
/// own.
pub fn inherit(platform: &Arc<Platform>) {
    platform.engine().checker().into_iter().for_each(|checker| drop(table().checker.set(checker.clone())));
    fn take_over<T: Object>(object: &Arc<T>, inherited: Option<&(usize, Block)>) {
        // 0: the parent had not given out this handle, so that there is none to take over.
        if let Some((address @ 1.., block)) = inherited {
            let references = References { object: Arc::downgrade(object), count: 0, held: None };
            *block.entry.lock() = Some(T::wrap(references));
            object.external().get_or_init(|| Owned { address: Some(*address) });
        }
    }
    let inherited = &table().inherited;
    take_over(platform, inherited.first());
    for (i, device) in platform.devices().iter().enumerate() {
        take_over(device, inherited.get(i + 1));
    }
}

/// Blocks that can become handles.
struct Free {
    /// Blocks that were handles, the oldest first.
    used: VecDeque<usize>,
    /// The next block that was none: its chunk, and its place there.
    next: (usize, usize),
}

/// The loader's data, which new handles get.
static DISPATCH_DATA: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Sets the loader's data of every handle, those that there are and those to come.
pub fn set_dispatch_data(data: *mut c_void) {
    let table = table();
    // Under the lock no handle is made that could miss it.
    let free = table.free.lock();
    DISPATCH_DATA.store(data, Ordering::Release);
    let inherited = table.inherited.iter().map(|(_, block)| block);
    for block in table.chunks.iter().map_while(OnceLock::get).flatten().chain(inherited) {
        block.dispatch_data.store(data, Ordering::Release);
    }
    drop(free);
}

/// So many freed blocks are kept before one is reused.
const RESTING: usize = 4096;

/// The block at an address, if there is one.
fn block_at(address: usize) -> Option<&'static Block> {
    table().block_at(address)
}

/// Makes a block the handle of an object. Returns its address; `None` if there is no block left.
fn add(entry: Entry) -> Option<usize> {
    let table = table();
    let mut free = table.free.lock();
    // The longest unused block first, and only when many others have been freed after it.
    let rested = if free.used.len() > RESTING { free.used.pop_front() } else { None };
    let address = match rested {
        Some(address) => address,
        None => {
            let (chunk, place) = free.next;
            let size = FIRST_CHUNK << chunk;
            // Made when it is first needed. The address of a block never changes, as a chunk does not grow.
            let blocks = table.chunks.get(chunk)?.get_or_init(|| (0..size).map(|_| Block::new()).collect());
            free.next = if place + 1 < size { (chunk, place + 1) } else { (chunk + 1, 0) };
            ptr::from_ref(&blocks[place]).expose_provenance()
        }
    };
    drop(free);
    *block_at(address)?.entry.lock() = Some(entry);
    Some(address)
}

impl Block {
    fn new() -> Block {
        let (kind, held) = (AtomicU8::new(0), AtomicPtr::new(ptr::null_mut()));
        let dispatch_data = AtomicPtr::new(DISPATCH_DATA.load(Ordering::Acquire));
        let dispatch = AtomicPtr::new(dispatch::table());
        Block { dispatch, dispatch_data, kind, held, entry: Mutex::new(None) }
    }
}

/// The content of an object's external slot: the address of its handle.
struct Owned {
    address: Option<usize>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(address) = self.address
            && let Some(block) = block_at(address)
        {
            // No two of these locks are held at a time, here and in `add`, so that they have no order.
            let entry = block.entry.lock().take();
            drop(entry);
            table().free.lock().used.push_back(address);
        }
    }
}

/// The handle of an object that the runtime holds; the application's references stay as they are.
pub fn borrow<T: Object>(object: &Arc<T>) -> Result<Handle<T>> {
    // The object keeps the address, so that it has one handle, whoever asks for it first.
    let owned = object.external().get_or_init(|| {
        let references = References { object: Arc::downgrade(object), count: 0, held: None };
        Owned { address: add(T::wrap(references)) }
    });
    match owned.and_then(|owned| owned.address) {
        Some(address) => Ok(Handle(address, PhantomData)),
        None => Err(Error::new(Status::OutOfHostMemory, "there is no handle left for an object")),
    }
}

/// The handle of a new object, with one reference of the application's.
pub fn create<T: Object>(object: Arc<T>) -> Result<Handle<T>> {
    let handle = borrow(&object)?;
    handle.retain()?;
    if let Some(checker) = checker() {
        let memory = (&*object as &dyn Any).downcast_ref::<MemObject>();
        let (what, bytes) = memory.map_or((T::NOUN, 0), |memory| (memory.noun(), memory.size()));
        let whole = memory.filter(|memory| memory.parent().is_none());
        let storage = whole.map(MemObject::storage);
        let has_data = whole.is_some_and(MemObject::has_data);
        checker.created(NewObject { id: Arc::as_ptr(&object).addr(), what, bytes, storage, has_data });
    }
    Ok(handle)
}

impl<T: Object> Handle<T> {
    /// Calls a function with the references and the block, which is locked meanwhile; `None` if this is no handle of
    /// such an object.
    fn references_with<R>(self, call: impl FnOnce(&mut References<T>, &Block) -> R) -> Option<R> {
        let block = block_at(self.0)?;
        let mut entry = block.entry.lock();
        Some(call(T::unwrap(entry.as_mut()?)?, block))
    }

    /// The object, if this is a handle of one.
    pub fn get(self) -> Result<Arc<T>> {
        match self.references_with(|references, _| references.get()).flatten() {
            Some(object) => Ok(object),
            None => Err(self.invalid()),
        }
    }

    #[cold]
    fn invalid(self) -> Error {
        match self.0 {
            0 => Error::new(T::INVALID, format!("the {} is NULL", T::NAME)),
            _ if table().is_of_parent(self.0) => {
                let why = "is of the process that this one is a fork of: a fork makes objects of its own";
                Error::new(T::INVALID, format!("the {} {why}", T::NAME))
            }
            _ => Error::new(T::INVALID, format!("{:#x} is not a {}, or no longer", self.0, T::NAME)),
        }
    }

    /// Calls a function with the object, if this is a handle of one. Only for entry points, with handles that are their
    /// arguments: while the application has a reference, neither lock nor count is touched, which takes as long as all
    /// the rest of `clSetKernelArg`.
    pub fn with<R>(self, call: impl FnOnce(&Arc<T>) -> Result<R>) -> Result<R> {
        let block = block_at(self.0);
        let held = block.map_or(ptr::null_mut(), |block| block.held.load(Ordering::Acquire));
        // After `held`: so it is the kind of that object or of a later one.
        let is_kind = block.is_some_and(|block| block.kind.load(Ordering::Relaxed) == T::KIND);
        if held.is_null() || !is_kind {
            return call(&self.get()?);
        }
        // SAFETY: the pointer is that of the `Arc<T>` in the block's entry, as `kind`, which changes only while `held`
        // is null, says. The entry keeps the object as long as the application has a reference; and the caller's
        // promise is that it does not release its last one while a call uses the object.
        let object = ManuallyDrop::new(unsafe { Arc::from_raw(held.cast::<T>()) });
        call(&object)
    }

    /// From the value of a kernel argument.
    pub fn from_address(address: usize) -> Handle<T> {
        Handle(address, PhantomData)
    }

    /// The address, for callbacks.
    pub fn pointer(self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.0)
    }

    /// Increments the application's reference count.
    pub fn retain(self) -> Result<()> {
        let retained = self.references_with(|references, block| {
            let object = references.get()?;
            references.count += 1;
            let held = references.held.get_or_insert(object);
            // Before `held`, whose release makes the kind visible to `with`.
            block.kind.store(T::KIND, Ordering::Relaxed);
            block.held.store(Arc::as_ptr(held).cast_mut().cast(), Ordering::Release);
            Some(())
        });
        retained.flatten().ok_or_else(|| self.invalid())
    }

    /// Decrements the application's reference count.
    pub fn release(self) -> Result<()> {
        let released = self.references_with(|references, block| {
            // An object that is being dropped is none any more.
            let object = references.get()?;
            // The runtime still has the object, as the queue has its context, but the application has no reference to
            // give up.
            let Some(left) = references.count.checked_sub(1) else { return Some(Err(object)) };
            references.count = left;
            if left > 0 {
                return Some(Ok((object, false)));
            }
            // First, so that no new call of `with` finds the object that is given up next.
            block.held.store(ptr::null_mut(), Ordering::Release);
            references.held.take();
            Some(Ok((object, true)))
        });
        // The object is dropped here and not under the lock.
        match released.flatten() {
            Some(Ok((object, is_last))) => {
                if let Some(checker) = checker().filter(|_| is_last) {
                    checker.released(Arc::as_ptr(&object).addr());
                }
                Ok(())
            }
            Some(Err(_)) => {
                Err(Error::new(T::INVALID, format!("the {} has been released as often as it was retained", T::NAME)))
            }
            // Destructors of the application run in a fork as they do in its parent, which keeps the object.
            None if table().is_of_parent(self.0) => Ok(()),
            None => Err(self.invalid()),
        }
    }

    /// The application's reference count.
    pub fn references(self) -> Result<u32> {
        self.references_with(|references, _| references.count).ok_or_else(|| self.invalid())
    }
}

/// The number of live handles, except of platforms and root devices. For tests of leaks.
pub fn live() -> usize {
    let counted = |block: &&Block| {
        let entry = block.entry.lock();
        entry.as_ref().is_some_and(|e| match e {
            Entry::Platform(_) => false,
            // The application has no references to root devices.
            Entry::Device(references) => references.count > 0,
            _ => true,
        })
    };
    table().chunks.iter().map_while(OnceLock::get).map(|blocks| blocks.iter().filter(counted).count()).sum()
}

/// An argument that has a context, whose callback then gets the error of a call.
pub trait Hint {
    fn hint(&self) -> Option<Arc<Context>> {
        None
    }
}

impl<T: Object> Hint for Handle<T> {
    fn hint(&self) -> Option<Arc<Context>> {
        T::context(&self.get().ok()?)
    }
}

macro_rules! no_hint {
    ($($ty:ty),*) => { $(impl Hint for $ty {})* };
}

no_hint!(
    u32,
    i32,
    u64,
    usize,
    isize,
    crate::args::Text,
    crate::args::HostMemory,
    crate::args::UserData,
    crate::args::OutBytes
);
impl<T> Hint for crate::args::Out<T> {}
impl<T> Hint for crate::args::OutArray<T> {}
impl<T> Hint for crate::args::In<T> {}
impl<F> Hint for Option<F> {}
impl<T> Hint for *mut T {}
