//! Handles: what the application holds of an object.
//!
//! A handle is the address of a small block whose first word is the dispatch table, as the ICD loader wants it. A
//! registry says which addresses are handles now, and of what; an address that is not in it, for whatever reason, is
//! an invalid object, and never read. The references that the application counts are apart from those that the runtime
//! holds: a handle stays good while either has one, because the specification lets an application go on using, say,
//! the context of its queue. Blocks are used again, but only after many others, and never given back, so that the
//! loader may read a stale handle.

use crate::entry::DISPATCH;
use cloom_runtime::{
    Context, Device, Error, Event, ExternalSlot, Kernel, MemObject, Platform, Program, Queue, Result, Status,
};
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, Weak};

/// What a handle points to.
#[repr(C)]
struct Block {
    dispatch: *const c_void,
    magic: u64,
}

const MAGIC: u64 = u64::from_le_bytes(*b"cloom.cl");

/// A handle of an object of type `T`, as the application passes it: any pointer at all.
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

/// Something that has handles.
pub trait Object: Any + Send + Sync + Sized {
    /// What an invalid handle of this type means.
    const INVALID: Status;
    /// What messages call it.
    const NAME: &'static str;
    /// Where the object keeps its handle.
    fn external(&self) -> &ExternalSlot;
    /// The context whose callback is told of errors.
    fn context(this: &Arc<Self>) -> Option<Arc<Context>>;
    fn wrap(weak: Weak<Self>) -> Entry;
    fn unwrap(entry: &Entry) -> Option<&Weak<Self>>;
}

macro_rules! objects {
    ($($ty:ident $invalid:ident $name:literal |$this:ident| $context:expr;)*) => {
        /// What is registered at an address.
        pub enum Entry { $($ty(Weak<$ty>),)* }

        $(impl Object for $ty {
            const INVALID: Status = Status::$invalid;
            const NAME: &'static str = $name;

            fn external(&self) -> &ExternalSlot {
                &self.external
            }

            fn context($this: &Arc<Self>) -> Option<Arc<Context>> {
                $context
            }

            fn wrap(weak: Weak<Self>) -> Entry {
                Entry::$ty(weak)
            }

            fn unwrap(entry: &Entry) -> Option<&Weak<Self>> {
                match entry { Entry::$ty(weak) => Some(weak), _ => None }
            }
        })*
    };
}

objects! {
    Platform InvalidPlatform "platform" |_p| None;
    Device InvalidDevice "device" |_d| None;
    Context InvalidContext "context" |c| Some(c.clone());
    Queue InvalidCommandQueue "command queue" |q| Some(q.context().clone());
    MemObject InvalidMemObject "memory object" |b| Some(b.context().clone());
    Program InvalidProgram "program" |p| Some(p.context().clone());
    Kernel InvalidKernel "kernel" |k| Some(k.program().context().clone());
    Event InvalidEvent "event" |e| Some(e.context().clone());
}

const SHARDS: usize = 16;

struct Registry {
    /// The keys are addresses that the registry chose, so nobody can make them collide.
    entries: [RwLock<FxHashMap<usize, Entry>>; SHARDS],
    /// Blocks that were handles, the oldest first.
    free: Mutex<VecDeque<usize>>,
}

static REGISTRY: LazyLock<Registry> =
    LazyLock::new(|| Registry { entries: Default::default(), free: Mutex::default() });

/// So many blocks rest before one is used again.
const RESTING: usize = 4096;

impl Registry {
    fn shard(&self, address: usize) -> &RwLock<FxHashMap<usize, Entry>> {
        &self.entries[(address / size_of::<Block>()) % SHARDS]
    }

    fn add(&self, entry: Entry) -> usize {
        let rested = {
            let mut free = self.free.lock();
            if free.len() > RESTING { free.pop_front() } else { None }
        };
        let address = rested.unwrap_or_else(|| {
            let block = Block { dispatch: (&raw const DISPATCH).cast(), magic: MAGIC };
            debug_assert!(block.magic == MAGIC && !block.dispatch.is_null());
            std::ptr::from_mut(Box::leak(Box::new(block))).expose_provenance()
        });
        self.shard(address).write().insert(address, entry);
        address
    }

    fn remove(&self, address: usize) {
        let entry = self.shard(address).write().remove(&address);
        drop(entry);
        self.free.lock().push_back(address);
    }

    fn find<T: Object>(&self, address: usize) -> Option<Arc<T>> {
        let shard = self.shard(address).read();
        T::unwrap(shard.get(&address)?)?.upgrade()
    }
}

/// What the external slot of an object holds: its handle.
struct Owned<T> {
    address: usize,
    /// The application's references, and the object while there are any.
    held: Mutex<(u32, Option<Arc<T>>)>,
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        REGISTRY.remove(self.address);
    }
}

fn owned<T: Object>(object: &Arc<T>) -> Result<&Owned<T>> {
    let kept = object.external().get_or_init(|| Owned::<T> {
        address: REGISTRY.add(T::wrap(Arc::downgrade(object))),
        held: Mutex::new((0, None)),
    });
    kept.ok_or_else(|| Error::new(Status::OutOfHostMemory, "an object has something else in its external slot"))
}

/// The handle of a new object, with one reference of the application's.
pub fn create<T: Object>(object: Arc<T>) -> Result<Handle<T>> {
    let owned = owned(&object)?;
    add_reference(owned, &object);
    Ok(Handle(owned.address, PhantomData))
}

fn add_reference<T: Object>(owned: &Owned<T>, object: &Arc<T>) {
    let mut held = owned.held.lock();
    held.0 += 1;
    held.1.get_or_insert_with(|| object.clone());
}

/// The handle of an object that the runtime holds; the application's references stay as they are.
pub fn borrow<T: Object>(object: &Arc<T>) -> Result<Handle<T>> {
    Ok(Handle(owned(object)?.address, PhantomData))
}

impl<T: Object> Handle<T> {
    /// The object, if this is a handle of one.
    pub fn get(self) -> Result<Arc<T>> {
        match REGISTRY.find(self.0) {
            Some(object) => Ok(object),
            None if self.0 == 0 => Err(Error::new(T::INVALID, format!("the {} is NULL", T::NAME))),
            None => Err(Error::new(T::INVALID, format!("{:#x} is not a {}, or no longer", self.0, T::NAME))),
        }
    }

    /// From what a kernel argument holds.
    pub fn from_address(address: usize) -> Handle<T> {
        Handle(address, PhantomData)
    }

    /// The address, for callbacks.
    pub fn pointer(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }

    /// One reference of the application's more.
    pub fn retain(self) -> Result<()> {
        let object = self.get()?;
        add_reference(owned(&object)?, &object);
        Ok(())
    }

    /// One reference of the application's less.
    pub fn release(self) -> Result<()> {
        let object = self.get()?;
        let owned = owned(&object)?;
        let last = {
            let mut held = owned.held.lock();
            let Some(left) = held.0.checked_sub(1) else {
                return Err(Error::new(
                    T::INVALID,
                    format!("the {} has been released as often as it was retained", T::NAME),
                ));
            };
            held.0 = left;
            if left == 0 { held.1.take() } else { None }
        };
        // Not under the lock: this may be the end of the object.
        drop(last);
        Ok(())
    }

    /// The application's references.
    pub fn references(self) -> Result<u32> {
        Ok(owned(&self.get()?)?.held.lock().0)
    }
}

/// Handles that exist now, of everything that is counted (not platforms and devices). For tests of leaks.
pub fn live() -> usize {
    let counted = |e: &&Entry| !matches!(e, Entry::Platform(_) | Entry::Device(_));
    REGISTRY.entries.iter().map(|shard| shard.read().values().filter(counted).count()).sum()
}

/// An argument that leads to a context, whose callback then hears of the error of a call.
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
