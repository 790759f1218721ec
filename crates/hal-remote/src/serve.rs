//! The helper: answers the requests of an application until its last connection ends.

use crate::served::Served;
use crate::wire::{self, Fault, MAX_BYTES, Printed, Reply, Request, Submit, nd_range, rect};
use cloom_artifact::KernelArtifact;
use cloom_hal::lock::Mutex;
use cloom_hal::{Completion, Finish, HalError, Kernel, Launch, Memory, PrintSink};
use std::collections::HashMap;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Serves an application on the connections that this socket takes. Returns only if the socket fails: when the
/// application has ended, so does this process.
pub fn serve<D: Served>(listener: &UnixListener, devices: Vec<D>) -> io::Error {
    let server = Arc::new(Server { devices, objects: Mutex::default(), next: AtomicU64::new(1) });
    let connections = Arc::new(AtomicUsize::new(0));
    let address = match listener.local_addr() {
        Ok(address) => address,
        Err(e) => return e,
    };
    loop {
        let mut connection = match listener.accept() {
            Ok((connection, _)) => connection,
            Err(e) => return e,
        };
        // Before the thread starts, so that the end of another connection does not end the process meanwhile.
        connections.fetch_add(1, Ordering::Relaxed);
        let (server, connections, address) = (server.clone(), connections.clone(), address.clone());
        let serve = move || {
            // The end of the connection, or a message that cannot be read.
            while server.answer_one(&mut connection).is_ok() {}
            if connections.fetch_sub(1, Ordering::Relaxed) == 1 {
                clear(&address);
                // Kernels that still run do not keep the process.
                std::process::exit(0);
            }
        };
        if let Err(e) = std::thread::Builder::new().name("cloom-helper".into()).spawn(serve) {
            return e;
        }
    }
}

/// Removes the socket with its folder, which an application that has ended cannot.
fn clear(address: &SocketAddr) {
    if let Some(socket) = address.as_pathname() {
        let _ = std::fs::remove_file(socket);
        let _ = socket.parent().map(std::fs::remove_dir);
    }
}

/// What the application has here.
struct Server<D> {
    devices: Vec<D>,
    objects: Mutex<HashMap<u64, Object>>,
    next: AtomicU64,
}

enum Object {
    Memory(Arc<dyn Memory>),
    Kernel(Arc<dyn Kernel>),
    Launch(Receiver<Reply>),
}

impl<D: Served> Server<D> {
    fn answer_one(&self, connection: &mut UnixStream) -> io::Result<()> {
        let (request, size) = wire::receive(connection)?;
        let mut bytes = vec![0; size];
        connection.read_exact(&mut bytes)?;
        let (reply, bytes) = match self.answer(request, &bytes) {
            Ok(answer) => answer,
            Err(error) => (failed::<D>(error), Vec::new()),
        };
        wire::send(connection, &reply, &bytes)
    }

    fn answer(&self, request: Request, bytes: &[u8]) -> Result<(Reply, Vec<u8>), HalError> {
        let mut out = Vec::new();
        let reply = match request {
            Request::Allocate { device, size } => {
                let memory = self.device(device)?.allocate(size)?;
                let address = memory.device_address();
                Reply::Memory(self.keep(Object::Memory(memory)), address)
            }
            Request::Read { memory, from } => {
                let from = rect(from);
                out = vec![0; from.bytes().min(MAX_BYTES) as usize];
                self.memory(memory)?.read_rect(&from, &mut out)?;
                Reply::Done
            }
            Request::Write { memory, to } => {
                self.memory(memory)?.write_rect(&rect(to), bytes)?;
                Reply::Done
            }
            Request::Copy { memory, to, source, from } => {
                let (memory, source, to, from) = (self.memory(memory)?, self.memory(source)?, rect(to), rect(from));
                // Copies of a single row may overlap, which `copy_from` allows and `copy_rect` does not.
                if to.region[1] * to.region[2] == 1 {
                    memory.copy_from(to.start, &*source, from.start, to.region[0])?;
                } else {
                    memory.copy_rect(&to, &*source, &from)?;
                }
                Reply::Done
            }
            Request::Fill { memory, to, pattern } => {
                self.memory(memory)?.fill_rect(&rect(to), &pattern)?;
                Reply::Done
            }
            Request::Load { device, artifact, variables } => {
                let artifact = KernelArtifact::decode("", &artifact).map_err(|e| HalError::BadCode(e.to_string()))?;
                let variables = variables.map(|number| self.memory(number)).transpose()?;
                let kernel = self.device(device)?.load(Arc::new(artifact), variables)?;
                let best_group = kernel.best_group_size();
                Reply::Kernel(self.keep(Object::Kernel(kernel)), best_group)
            }
            Request::Submit(submit) => self.submit(&submit)?,
            Request::Wait { launch } => {
                // The lock ends with this statement: the wait below may take as long as the kernel.
                let Some(Object::Launch(end)) = self.objects.lock().remove(&launch) else {
                    return Err(unknown(launch));
                };
                end.recv().map_err(|_| HalError::Device("the end of a launch was not reported".into()))?
            }
            Request::Text { device, address } => Reply::Text(self.device(device)?.text(address)),
            Request::Forget { object } => {
                // Dropped without the lock: that may wait.
                let object = self.objects.lock().remove(&object);
                drop(object);
                Reply::Done
            }
        };
        Ok((reply, out))
    }

    fn submit(&self, submit: &Submit) -> Result<Reply, HalError> {
        // Cloned, so that the launch is submitted without the lock, even if the application forgets the kernel
        // meanwhile.
        let kernel = match self.objects.lock().get(&submit.kernel) {
            Some(Object::Kernel(kernel)) => kernel.clone(),
            _ => return Err(unknown(submit.kernel)),
        };
        let (sender, receiver) = channel();
        let end = Box::new(End::<D> { printed: Mutex::default(), sender, device: PhantomData });
        let launch = Launch {
            kernel: &*kernel,
            range: nd_range(submit.range),
            args: &submit.args,
            local_size: submit.local_size,
            zero_local: submit.zero_local,
            print: &*end,
            device: None,
            tier_up: None,
            queue: submit.queue,
            timed: submit.timed,
        };
        match self.device(submit.device)?.submit(&launch)? {
            Completion::Done => end.finish(Ok(None)),
            Completion::Pending(pending) => pending.on_end(end),
        }
        Ok(Reply::Launch(self.keep(Object::Launch(receiver))))
    }

    fn device(&self, place: u32) -> Result<&D, HalError> {
        self.devices.get(place as usize).ok_or_else(|| HalError::Device(format!("no GPU {place}")))
    }

    fn memory(&self, number: u64) -> Result<Arc<dyn Memory>, HalError> {
        match self.objects.lock().get(&number) {
            Some(Object::Memory(memory)) => Ok(memory.clone()),
            _ => Err(unknown(number)),
        }
    }

    fn keep(&self, object: Object) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.objects.lock().insert(number, object);
        number
    }
}

fn unknown(number: u64) -> HalError {
    HalError::Device(format!("the helper has no object {number}"))
}

fn failed<D: Served>(error: HalError) -> Reply {
    // After a fault of the device, each error is a consequence of it. The application then starts another helper.
    Reply::Failed(D::why_lost().map_or_else(|| error.into(), Fault::Lost))
}

/// Receives the end of a launch.
struct End<D> {
    printed: Mutex<Vec<Printed>>,
    sender: Sender<Reply>,
    device: PhantomData<fn() -> D>,
}

impl<D: Served> PrintSink for End<D> {
    fn print(&self, format: u32, item: u64, args: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {
        self.printed.lock().push(Printed { format, item, args: args.to_vec() });
    }
}

impl<D: Served> Finish for End<D> {
    fn finish(self: Box<Self>, result: Result<Option<Duration>, HalError>) {
        let reply = match result {
            Ok(time) => Reply::Ended(time.map(|time| time.as_nanos() as u64), self.printed.into_inner()),
            Err(error) => failed::<D>(error),
        };
        // An application that has ended does not ask.
        let _ = self.sender.send(reply);
    }
}
