//! Servers, their failures and those who want something of them, in any order. What must hold is in the fuzz target's body.

use mcpwire_engine_tests::fuzz::supervisor;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes()[0]
    }
}

fn runs() -> u64 {
    std::env::var("MCPWIRE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(100)
}

#[test]
fn whatever_happens_and_in_whatever_order() {
    for seed in 1..=runs() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let input: Vec<u8> = (0..1_500).map(|_| random.byte()).collect();
        supervisor::run(&input);
    }
}

/// Mostly good answers: servers run, for a while.
#[test]
fn whatever_happens_to_servers_that_mostly_work() {
    for seed in 1..=runs() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x4d);
        let mut input = vec![random.byte()];
        for _ in 0..400 {
            match random.byte() {
                0..160 => input.extend([3, random.byte() % 4]),
                160..180 => input.extend([0, random.byte() % 3, 0]),
                180..200 => input.extend([16, random.byte() % 3]),
                other => input.extend([other % 24, random.byte(), random.byte(), random.byte()]),
            }
        }
        supervisor::run(&input);
    }
}
