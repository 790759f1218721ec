//! The harness of the file tests and the differential ladder
