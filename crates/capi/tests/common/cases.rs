//! Tables of calls and the codes that the specification requires. All differences are shown at once.

use super::Handle;
use opencl_sys::*;

/// A table under test.
#[derive(Default)]
pub struct Cases {
    wrong: Vec<String>,
    count: usize,
}

impl Cases {
    pub fn new() -> Cases {
        Cases::default()
    }

    /// A call that returns a code.
    pub fn code(&mut self, what: &str, wanted: i32, got: i32) {
        self.count += 1;
        if got != wanted {
            self.wrong.push(format!("{what}: {} instead of {}", code_name(got), code_name(wanted)));
        }
    }

    /// A call that returns an object, with the code in an argument. It is also made without room for the code.
    pub fn new_object(&mut self, what: &str, wanted: i32, call: impl Fn(*mut i32) -> Handle) {
        let mut code = 12345;
        let object = call(&mut code);
        self.code(what, wanted, code);
        if !object.is_null() {
            self.wrong.push(format!("{what}: an object in spite of {}", code_name(wanted)));
        }
        if !call(std::ptr::null_mut()).is_null() {
            self.wrong.push(format!("{what}: an object in spite of {}, with no place for the code", code_name(wanted)));
        }
    }

    /// The rules that every query shares, for a `name` whose answer has more than one byte.
    pub fn query(&mut self, what: &str, name: u32, ask: impl Fn(u32, usize, Handle, *mut usize) -> i32) {
        let mut room = [0u8; 1 << 16];
        let place: Handle = room.as_mut_ptr().cast();
        let (size, none) = (room.len(), std::ptr::null_mut());
        let mut got = 0;
        self.code(&format!("{what}: unknown query"), CL_INVALID_VALUE, ask(0x7777, size, place, none));
        self.code(&format!("{what}: too small"), CL_INVALID_VALUE, ask(name, 1, place, none));
        self.code(&format!("{what}: nothing asked"), 0, ask(name, 0, none.cast(), none));
        self.code(&format!("{what}: more room than needed"), 0, ask(name, size, place, &mut got));
        self.code(&format!("{what}: exact room"), 0, ask(name, got, place, none));
        self.code(&format!("{what}: a byte less"), CL_INVALID_VALUE, ask(name, got - 1, place, none));
    }

    /// Ends the table.
    #[track_caller]
    pub fn end(self) {
        assert!(self.count > 0);
        assert!(self.wrong.is_empty(), "{} of {}:\n{}", self.wrong.len(), self.count, self.wrong.join("\n"));
    }
}

/// The name of a code.
pub fn code_name(code: i32) -> String {
    macro_rules! names {
        ($($name:ident)*) => {
            match code { $($name => stringify!($name).to_owned(),)* _ => format!("{code}") }
        };
    }
    names! {
        CL_SUCCESS CL_DEVICE_NOT_FOUND CL_DEVICE_NOT_AVAILABLE CL_COMPILER_NOT_AVAILABLE CL_MEM_OBJECT_ALLOCATION_FAILURE
        CL_OUT_OF_RESOURCES CL_OUT_OF_HOST_MEMORY CL_PROFILING_INFO_NOT_AVAILABLE CL_MEM_COPY_OVERLAP
        CL_BUILD_PROGRAM_FAILURE CL_MAP_FAILURE CL_MISALIGNED_SUB_BUFFER_OFFSET
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST CL_COMPILE_PROGRAM_FAILURE CL_LINKER_NOT_AVAILABLE
        CL_LINK_PROGRAM_FAILURE CL_DEVICE_PARTITION_FAILED CL_KERNEL_ARG_INFO_NOT_AVAILABLE CL_INVALID_VALUE
        CL_INVALID_DEVICE_TYPE CL_INVALID_PLATFORM CL_INVALID_DEVICE CL_INVALID_CONTEXT CL_INVALID_QUEUE_PROPERTIES
        CL_INVALID_COMMAND_QUEUE CL_INVALID_HOST_PTR CL_INVALID_MEM_OBJECT CL_INVALID_SAMPLER CL_INVALID_BINARY
        CL_INVALID_BUILD_OPTIONS CL_INVALID_PROGRAM CL_INVALID_PROGRAM_EXECUTABLE CL_INVALID_KERNEL_NAME
        CL_INVALID_KERNEL_DEFINITION CL_INVALID_KERNEL CL_INVALID_ARG_INDEX CL_INVALID_ARG_VALUE CL_INVALID_ARG_SIZE
        CL_INVALID_KERNEL_ARGS CL_INVALID_WORK_DIMENSION CL_INVALID_WORK_GROUP_SIZE CL_INVALID_WORK_ITEM_SIZE
        CL_INVALID_GLOBAL_OFFSET CL_INVALID_EVENT_WAIT_LIST CL_INVALID_EVENT CL_INVALID_OPERATION
        CL_INVALID_BUFFER_SIZE CL_INVALID_GLOBAL_WORK_SIZE CL_INVALID_PROPERTY CL_INVALID_COMPILER_OPTIONS
        CL_INVALID_LINKER_OPTIONS CL_INVALID_DEVICE_PARTITION_COUNT
    }
}
