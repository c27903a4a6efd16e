//! Chunks of bitshuffle alone, with LZ4 and with Zstandard.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssb_io::fuzzing::bitshuffle(data));
