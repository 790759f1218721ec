//! Kernels and launches of a helper.

use crate::memory::RemoteMemory;
use crate::process::Helper;
use crate::wire::{Printed, Reply, Request};
use cloom_artifact::{KernelArgKind, KernelArtifact};
use cloom_hal::lock::Mutex;
use cloom_hal::{Finish, HalError, Kernel, Launch, Memory, Pending, PrintSink, conclude};
use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// A kernel. A later helper loads it anew.
pub struct RemoteKernel {
    artifact: Arc<KernelArtifact>,
    device: u32,
    variables: Option<Arc<dyn Memory>>,
    loaded: Mutex<Loaded>,
    best_group: u64,
}

/// Where it is loaded.
struct Loaded {
    helper: Arc<Helper>,
    number: u64,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.helper.forget(self.number);
    }
}

impl RemoteKernel {
    /// Loads a kernel.
    pub fn load(
        helper: Arc<Helper>,
        device: u32,
        artifact: Arc<KernelArtifact>,
        variables: Option<Arc<dyn Memory>>,
    ) -> Result<RemoteKernel, HalError> {
        let (number, best_group) = load(&helper, device, &artifact, variables.as_deref())?;
        let loaded = Mutex::new(Loaded { helper, number });
        Ok(RemoteKernel { artifact, device, variables, loaded, best_group })
    }

    /// Its number in this helper.
    pub fn number_in(&self, helper: &Arc<Helper>) -> Result<u64, HalError> {
        // Held during the load, so that threads that launch at the same time load the kernel once.
        let mut loaded = self.loaded.lock();
        if !Arc::ptr_eq(&loaded.helper, helper) {
            let (number, _) = load(helper, self.device, &self.artifact, self.variables.as_deref())?;
            *loaded = Loaded { helper: helper.clone(), number };
        }
        Ok(loaded.number)
    }

    /// Refuses arguments that are addresses of what was lost.
    pub fn check(&self, helper: &Helper, launch: &Launch<'_>) -> Result<(), HalError> {
        for arg in &self.artifact.args {
            if !matches!(arg.kind, KernelArgKind::Buffer | KernelArgKind::Image) {
                continue;
            }
            let word = launch.args.get(arg.offset as usize..).and_then(|bytes| bytes.first_chunk());
            let address = word.map_or(0, |word| u64::from_le_bytes(*word));
            // 0 is a buffer argument without a buffer, which a kernel may test for.
            if address != 0 && !helper.knows(address) {
                return Err(gone());
            }
        }
        Ok(())
    }
}

impl Kernel for RemoteKernel {
    fn artifact(&self) -> &KernelArtifact {
        &self.artifact
    }

    fn best_group_size(&self) -> u64 {
        self.best_group
    }
}

fn gone() -> HalError {
    HalError::Device("memory of the launch was lost in a fault of the GPU; make it anew".into())
}

fn load(
    helper: &Arc<Helper>,
    device: u32,
    artifact: &KernelArtifact,
    variables: Option<&dyn Memory>,
) -> Result<(u64, u64), HalError> {
    let variables = match variables {
        None => None,
        Some(memory) => {
            let memory: &dyn Any = memory;
            let own = memory.downcast_ref::<RemoteMemory>().filter(|memory| Arc::ptr_eq(&memory.helper, helper));
            Some(own.ok_or_else(gone)?.number)
        }
    };
    match helper.call(&Request::Load { device, artifact: artifact.encode(""), variables }, &[], &mut [])? {
        Reply::Kernel(number, best_group) => Ok((number, best_group)),
        other => Err(other.unexpected()),
    }
}

/// A launch on its way.
pub struct RemoteLaunch {
    pub helper: Arc<Helper>,
    pub device: u32,
    pub number: u64,
    /// The thread that notifies the ends of the queue's launches.
    pub ends: Ends,
}

impl RemoteLaunch {
    fn end(&self, sink: &dyn PrintSink) -> Result<Option<Duration>, HalError> {
        // The helper answers when the launch has ended. Until then, this thread's connection is occupied; others have
        // their own.
        match self.helper.call(&Request::Wait { launch: self.number }, &[], &mut [])? {
            Reply::Ended(time, printed) => {
                for Printed { format, item, args } in printed {
                    sink.print(format, item, &args, &|address| self.text(address));
                }
                Ok(time.map(Duration::from_nanos))
            }
            other => Err(other.unexpected()),
        }
    }

    fn text(&self, address: u64) -> Option<Vec<u8>> {
        match self.helper.call(&Request::Text { device: self.device, address }, &[], &mut []) {
            Ok(Reply::Text(text)) => text,
            _ => None,
        }
    }
}

impl Pending for RemoteLaunch {
    fn wait(self: Box<Self>, print: &dyn PrintSink) -> Result<(), HalError> {
        self.end(print).map(drop)
    }

    fn on_end(self: Box<Self>, finish: Box<dyn Finish>) {
        let ends = self.ends.clone();
        // The thread is gone. The end is then notified here, since somebody waits for it.
        if let Err(unsent) = ends.0.send((self, finish)) {
            let (launch, finish) = unsent.0;
            conclude(finish, |sink| launch.end(sink));
        }
    }
}

/// The thread that notifies the ends of a queue's launches, in order.
#[derive(Clone)]
pub struct Ends(Sender<(Box<RemoteLaunch>, Box<dyn Finish>)>);

impl Ends {
    /// Starts it. It ends when nobody can send it launches any more.
    pub fn new() -> Result<Ends, HalError> {
        let (sender, receiver) = channel::<(Box<RemoteLaunch>, Box<dyn Finish>)>();
        let thread = std::thread::Builder::new().name("cloom-remote".into());
        let serve = move || receiver.into_iter().for_each(|(launch, finish)| conclude(finish, |sink| launch.end(sink)));
        thread.spawn(serve).map_err(|e| HalError::Device(format!("no thread for launches: {e}")))?;
        Ok(Ends(sender))
    }
}
