//! Contexts: the devices that share objects, and where errors are reported.

use crate::status::ensure;
use crate::svm::Allocations;
use crate::{Attachment, Device, Engine, Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;

/// Called with a message when something went wrong, perhaps later and from another thread.
pub type ErrorCallback = Box<dyn Fn(&str) + Send + Sync>;

/// A property as the application gave it: key and value.
pub type ContextProperty = (isize, isize);

/// A context.
pub struct Context {
    /// What the interface keeps.
    pub attachment: Attachment,
    engine: Arc<Engine>,
    devices: Vec<Arc<Device>>,
    properties: Option<Vec<ContextProperty>>,
    notify: Option<ErrorCallback>,
    destructors: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
    svm: Allocations,
}

impl Context {
    /// A context of these devices; duplicates count once. Properties have been checked by the caller, who knows their meaning.
    pub fn new(
        devices: &[Arc<Device>],
        properties: Option<Vec<ContextProperty>>,
        notify: Option<ErrorCallback>,
    ) -> Result<Arc<Context>> {
        let mut unique: Vec<Arc<Device>> = Vec::new();
        for device in devices {
            if !unique.iter().any(|d| Arc::ptr_eq(d, device)) {
                unique.push(device.clone());
            }
        }
        ensure!(!unique.is_empty(), InvalidValue, "a context needs a device");
        Ok(Arc::new(Context {
            attachment: Attachment::default(),
            engine: unique[0].engine().clone(),
            devices: unique,
            properties,
            notify,
            destructors: Mutex::default(),
            svm: Allocations::default(),
        }))
    }

    /// The devices.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The properties, in the order given; `None` if none were given at all.
    pub fn properties(&self) -> Option<&[ContextProperty]> {
        self.properties.as_deref()
    }

    pub(crate) fn svm(&self) -> &Allocations {
        &self.svm
    }

    /// What all objects share.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Tells the application's callback of an error.
    pub fn report(&self, error: &Error) {
        if let Some(notify) = &self.notify {
            notify(&error.to_string());
        }
    }

    /// Calls this when the context is gone; the last one registered is the first one called.
    pub fn on_destruction(&self, call: Box<dyn FnOnce() + Send>) {
        self.destructors.lock().push(call);
    }

    /// The number of a device in this context.
    pub fn index_of(&self, device: &Arc<Device>) -> Option<usize> {
        self.devices.iter().position(|d| Arc::ptr_eq(d, device))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let calls = std::mem::take(self.destructors.get_mut());
        calls.into_iter().rev().for_each(|call| call());
    }
}
