//! Chunks of Blosc and Blosc2, LZF and the LZ4 filter.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssb_io::fuzzing::chunk(data));
