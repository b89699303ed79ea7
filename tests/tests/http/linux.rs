//! The threads of clients, which only Linux lists.

use mcpwire_tests::watched;
use mcpwire_tests::web::{Web, said};

use super::clients::open_blocking;

/// One thread makes the requests of all clients, and one is the runtime's for its sockets and timers.
#[test]
fn clients_leave_no_threads_behind() {
    fn threads() -> usize {
        let names = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = names.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        // `mcpwire-process` belongs to the clients on tokio of other tests, and stays as long as the process.
        let names = names.filter(|name| name.trim_end() != "mcpwire-process");
        names.filter(|name| name.starts_with("mcpwire") || name.starts_with("async-io")).count()
    }
    watched(|| {
        let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("hi"))));
        let clients: Vec<mcpwire_blocking::McpClient> = (0..10).map(|_| open_blocking(&web)).collect();
        assert!(threads() <= 2, "{}", threads());
        drop(clients);
        assert!(threads() <= 2, "{}", threads());
    });
}
