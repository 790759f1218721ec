//! Handles: the application's references to objects.
//!
//! A handle is the address of a small block whose first word is the dispatch table, as the ICD loader requires. A
//! registry has the addresses of live handles with their objects; any other address is an invalid object, and never
//! dereferenced. The application's reference count is separate from the references of the runtime: a handle is valid
//! while either exists, because the specification lets an application continue to use, say, the context of its queue.
//! Blocks are reused only after many others and never freed, so that the loader may read a stale handle.

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

/// The target of a handle.
#[repr(C)]
struct Block {
    dispatch: *const c_void,
    magic: u64,
}

const MAGIC: u64 = u64::from_le_bytes(*b"cloom.cl");

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
    /// Its name in messages.
    const NAME: &'static str;
    /// The external slot that keeps the object's handle.
    fn external(&self) -> &ExternalSlot;
    /// The context whose callback gets errors.
    fn context(this: &Arc<Self>) -> Option<Arc<Context>>;
    fn wrap(weak: Weak<Self>) -> Entry;
    fn unwrap(entry: &Entry) -> Option<&Weak<Self>>;
}

macro_rules! objects {
    ($($ty:ident $invalid:ident $name:literal |$this:ident| $context:expr;)*) => {
        /// The registry's entry for an address.
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

/// So many freed blocks are kept before one is reused.
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

/// The content of an object's external slot: its handle.
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

    /// From the value of a kernel argument.
    pub fn from_address(address: usize) -> Handle<T> {
        Handle(address, PhantomData)
    }

    /// The address, for callbacks.
    pub fn pointer(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }

    /// Increments the application's reference count.
    pub fn retain(self) -> Result<()> {
        let object = self.get()?;
        add_reference(owned(&object)?, &object);
        Ok(())
    }

    /// Decrements the application's reference count.
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
        // Not under the lock: this may drop the object.
        drop(last);
        Ok(())
    }

    /// The application's reference count.
    pub fn references(self) -> Result<u32> {
        Ok(owned(&self.get()?)?.held.lock().0)
    }
}

/// The number of live handles, except of platforms and devices. For tests of leaks.
pub fn live() -> usize {
    let counted = |e: &&Entry| !matches!(e, Entry::Platform(_) | Entry::Device(_));
    REGISTRY.entries.iter().map(|shard| shard.read().values().filter(counted).count()).sum()
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
