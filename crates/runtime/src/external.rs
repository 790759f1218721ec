//! External slots: a place in every object for what an interface keeps with it, such as its handle. It is dropped with
//! the object.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

/// What an interface keeps with an object.
#[derive(Default)]
pub struct ExternalSlot(OnceLock<Box<dyn Any + Send + Sync>>);

impl ExternalSlot {
    /// What is in the slot, made on the first call. `None` if something of another type is there.
    pub fn get_or_init<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }

    /// What is in the slot.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.get()?.downcast_ref()
    }
}

impl fmt::Debug for ExternalSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "used" } else { "empty" })
    }
}
