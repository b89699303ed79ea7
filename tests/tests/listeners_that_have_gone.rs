//! Nothing is kept for a listener that has gone, also if the server tells nothing. Memory is the process', so there is one
//! case, and the runtime makes no difference to it.

use mcpwire_tests::asynchronous::{Async, TokioCurrent};
use mcpwire_tests::{peak_memory, server, watched};

const MANY: usize = 300_000;

#[test]
fn they_cost_nothing() {
    watched(|| {
        let server = server!("well-behaved");
        server.open::<Async<TokioCurrent>>().run(async |client| {
            drop(client.notifications());
            let before = peak_memory();
            for _ in 0..MANY {
                drop(client.notifications());
            }
            let grown = peak_memory().zip(before).map_or(0, |(after, before)| after - before);
            assert!(grown < 8 << 20, "{grown} bytes for those that are not there");
        });
    });
}
