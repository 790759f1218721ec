//! Errors of devices: what a device says, for the runtime, which knows which command it was.

/// Errors of devices.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HalError {
    /// Host or device memory is exhausted. So many bytes were asked for; 0 if nobody can say.
    #[error("out of memory{}", asked_for(*.0))]
    OutOfMemory(u64),
    /// The code does not load: wrong target, damaged, or an unknown symbol.
    #[error("the code does not load: {0}")]
    BadCode(String),
    /// The device failed.
    #[error("the device failed: {0}")]
    Device(String),
}

fn asked_for(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!(": {bytes} bytes were asked for"),
    }
}

#[cfg(test)]
mod tests {
    use super::HalError;

    #[test]
    fn memory_that_is_missing_has_a_size_if_that_is_known() {
        assert_eq!(HalError::OutOfMemory(4096).to_string(), "out of memory: 4096 bytes were asked for");
        assert_eq!(HalError::OutOfMemory(0).to_string(), "out of memory");
    }
}
