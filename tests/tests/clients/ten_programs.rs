//! The programs in `examples/ten` are the same for each client: they differ by `.await`, the import, and what is borrowed.
//!
//! Those of tokio are the source. After a change there, `WRITE_TEN_PROGRAMS=1 cargo test -p mcpwire-tests --test clients
//! ten_programs` followed by `cargo fmt` writes the others.

use std::path::Path;
use std::{env, fs};

/// What differs between the programs for tokio and those for another client.
struct Client {
    file: &'static str,
    replacements: &'static [(&'static str, &'static str)],
}

const MAIN: &str =
    "#[tokio::main(flavor = \"current_thread\")]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {";

const CLIENTS: [Client; 3] = [
    Client {
        file: "smol.rs",
        replacements: &[
            (
                MAIN,
                "fn main() -> Result<(), Box<dyn std::error::Error>> {\n    smol::block_on(run())\n}\n\n\
                 async fn run() -> Result<(), Box<dyn std::error::Error>> {",
            ),
            ("tokio", "smol"),
        ],
    },
    Client {
        file: "async_std.rs",
        replacements: &[
            (
                MAIN,
                "fn main() -> Result<(), Box<dyn std::error::Error>> {\n    async_std::task::block_on(run())\n}\n\n\
                 async fn run() -> Result<(), Box<dyn std::error::Error>> {",
            ),
            ("on tokio", "on async-std"),
            ("tokio", "async_std"),
        ],
    },
    Client {
        file: "blocking.rs",
        replacements: &[
            (MAIN, "fn main() -> Result<(), Box<dyn std::error::Error>> {"),
            ("on tokio", "with the blocking client"),
            ("tokio", "blocking"),
            // The result of a call that was begun is a future, or is waited for with the client.
            ("call.await?", "call.wait(&mut client)?"),
            // A connection that is opened is awaited, or waited for.
            ("open(def).await?", "open(def).wait()?"),
            ("on_elicitation(ask).await?", "on_elicitation(ask).wait()?"),
            ("token(token)).await?", "token(token)).wait()?"),
            ("})\n        .await?", "})\n        .wait()?"),
            (".await", ""),
            // Handlers stay `async`.
            ("async fn ", "fn "),
            ("fn ask(", "async fn ask("),
            ("fn token(", "async fn token("),
            // Methods of the blocking client borrow it mutably.
            ("let client =", "let mut client ="),
        ],
    },
];

/// Removes what a formatter may change: white space, and the order of imports.
fn unformatted(text: &str) -> String {
    let (mut imports, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("use "));
    imports.sort_unstable();
    let text = [imports, rest].concat().concat();
    text.chars().filter(|c| !c.is_whitespace()).collect::<String>().replace(",)", ")")
}

#[test]
fn they_differ_by_await_and_import() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/ten");
    let source = fs::read_to_string(directory.join("tokio.rs")).expect("it can be read");
    for client in CLIENTS {
        let expected = client.replacements.iter().fold(source.clone(), |text, (from, to)| text.replace(from, to));
        let file = directory.join(client.file);
        if env::var_os("WRITE_TEN_PROGRAMS").is_some() {
            fs::write(&file, expected).expect("it can be written");
            continue;
        }
        let text = fs::read_to_string(&file).expect("it can be read");
        assert!(
            unformatted(&text) == unformatted(&expected),
            "{} differs from tokio.rs: set WRITE_TEN_PROGRAMS=1 to write it, then run `cargo fmt`",
            file.display()
        );
    }
}
