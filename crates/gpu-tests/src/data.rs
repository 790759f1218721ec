//! Data of the checks: bytes that look random, what is in memory, and how two lists differ.

use cloom_hal::{HalError, Memory};

/// An error if two lists differ.
pub fn differs<T: PartialEq + std::fmt::Debug>(what: &str, found: &[T], expected: &[T]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{what}: {} elements, not {}", found.len(), expected.len()));
    }
    match (0..found.len()).find(|&i| found[i] != expected[i]) {
        Some(i) => Err(format!("{what}: element {i} is {:?}, not {:?}", found[i], expected[i])),
        None => Ok(()),
    }
}

/// All bytes of memory.
pub fn contents(memory: &dyn Memory) -> Result<Vec<u8>, HalError> {
    let mut bytes = vec![0; memory.size() as usize];
    memory.read(0, &mut bytes)?;
    Ok(bytes)
}

/// Bytes that look random.
pub fn noise(size: usize) -> Vec<u8> {
    let mut seed = 12345u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32
    };
    (0..size.div_ceil(4)).flat_map(|_| next().to_le_bytes()).take(size).collect()
}
