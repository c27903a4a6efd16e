//! Merlin files: frame headers and what follows.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssb_io::fuzzing::file("a.mib", data));
