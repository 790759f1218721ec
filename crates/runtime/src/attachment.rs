//! A place in every object for what an interface keeps with it (a handle); it is dropped with the object.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

/// What an interface keeps with an object.
#[derive(Default)]
pub struct Attachment(OnceLock<Box<dyn Any + Send + Sync>>);

impl Attachment {
    /// What is attached, made on the first call. `None` if something of another type is attached.
    pub fn get_or_attach<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }

    /// What is attached.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.get()?.downcast_ref()
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "attached" } else { "empty" })
    }
}
