//! EMPAD descriptions.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ssb_io::fuzzing::empad_xml(data));
