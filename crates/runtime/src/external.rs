//! External slots: every object has one, in which an interface keeps data such as its handle. It is dropped with the
//! object.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

/// The data of an interface.
#[derive(Default)]
pub struct ExternalSlot(OnceLock<Box<dyn Any + Send + Sync>>);

impl ExternalSlot {
    /// The content of the slot, created by the first call. `None` if it has another type.
    pub fn get_or_init<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }

    /// The content of the slot.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.get()?.downcast_ref()
    }
}

impl fmt::Debug for ExternalSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "used" } else { "empty" })
    }
}
