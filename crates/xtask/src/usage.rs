//! The list of commands, for people and for the check of documents.

pub const USAGE: &str = "usage: cargo xtask <command>

  demo          build, run the Mandelbrot set and the histogram through the driver, check them, write pictures
  test [ARGS]   run every test; ARGS go to `cargo test`
  ci            formatting, lints, invariants, every test
  tidy          check the invariants of the workspace
  bless         run the tests and accept what golden files would change
  pictures      draw the pictures of docs/gallery.md anew
  ranks         the gallery in several processes, through MPI; and a process that dies
  gpu           pack: what runs on a machine with a GPU; simulate COMMAND: run it here on a simulated one
  aarch64 [A…]  run the tests that run machine code, made for Arm and emulated; ARGS go to `cargo test`
  cts DIR [S…]  run the conformance tests that were built in DIR, or the suites whose names begin so; `cts` tells its options
  corpora DIR   compile public kernels that lie or are fetched into DIR, and compare with what is expected of each
  dist          make what users get, a wheel, a Debian package and a tarball; --check: and try them in fresh systems;
                --try: try what was made; --machine aarch64: for Arm, on any machine
  hashcat [A…]  build all kernels of hashcat, or of the sources whose names begin so; takes hours of processor time
  sanitize [A…] the driver's tests under sanitizers and valgrind: address [ARGS], cpp or memcheck [NAMES]
  soak [A…]     long runs of what a driver must endure: --minutes N, --case NAME, --json, --list
  show ARGS     every stage of one kernel: `cloom show ARGS`";
