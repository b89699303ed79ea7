#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcpwire_tests::fuzz::exchange::run(data));
