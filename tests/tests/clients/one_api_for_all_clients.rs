//! The blocking and the async clients have the same methods, with the same arguments, results and documentation.
//!
//! The test reads the sources. It compares the public methods by name, the arguments by name and type, the result by type, and
//! the first sentence of the documentation word for word. It ignores what must differ: `async`, futures, the runtime of the
//! client, and how `self` and the client are borrowed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FnArg, ImplItem, ImplItemFn, ItemImpl, Lit, Meta, ReturnType, Type, Visibility};

/// The types whose methods are compared.
const TYPES: [&str; 9] =
    ["McpClient", "Call", "Pending", "RunningTask", "TaskOrResult", "Subscription", "Notifications", "Events", "Tools"];

/// The methods that only one of the clients has, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    ("McpClient::canceller", "a blocking wait is ended from another thread; a future is dropped"),
    ("McpClient::listen", "the async client reads in the background"),
    ("McpClient::connect_on", "only async clients have a runtime"),
    ("McpClient::over_on", "only async clients have a runtime"),
    ("McpClient::over_messages_on", "only async clients have a runtime"),
    ("McpClient::without_runtime", "only async clients have a runtime"),
    ("Pending::wait", "the async request is awaited itself"),
    ("Notifications::next_within", "async programs use the timeout of their runtime"),
    ("Events::next_within", "async programs use the timeout of their runtime"),
    ("Subscription::next_within", "async programs use the timeout of their runtime"),
    ("Subscription::changes", "the async subscription is a `Stream` itself"),
];

/// The arguments whose types differ, and why.
const ARGUMENT_DIFFERENCES: &[(&str, &str)] = &[
    ("McpClient::over", "the streams are those of `std::io` or of the async runtime"),
    (
        "McpClient::over_messages",
        "blocking receivers and senders wait; those of async clients are a `Stream` and a `Sink`",
    ),
];

/// The methods whose results differ, and why.
const RESULT_DIFFERENCES: &[(&str, &str)] = &[
    ("McpClient::closed", "a blocking wait can be ended by a `Canceller`"),
    ("McpClient::over", "the blocking client starts threads, which the system may refuse"),
    ("McpClient::over_messages", "the blocking client starts threads, which the system may refuse"),
    ("Events::next", "a blocking wait can be ended by a `Canceller`"),
    ("Notifications::next", "a blocking wait can be ended by a `Canceller`"),
    ("Subscription::next", "a blocking wait can be ended by a `Canceller`"),
];

/// What is removed from a result before it is compared, and what is put in its place: lifetimes, the runtime of the client,
/// and the futures that have names.
const REPLACEMENTS: [(&str, &str); 10] = [
    (" ", ""),
    ("<'_,'c>", ""),
    ("<'client>", ""),
    ("<'c>", ""),
    ("<'_>", ""),
    ("'c,", ""),
    ("<R>", ""),
    ("<R,", "<"),
    ("CallFuture<CallTool>", "Result<CallToolResult,Error>"),
    ("CallFuture<CallToolRaw>", "Result<Json,Error>"),
];

/// A public method, without what must differ.
#[derive(Debug, PartialEq)]
struct Method {
    arguments: Vec<String>,
    result: String,
    first_sentence: String,
}

#[derive(Default)]
struct Methods(BTreeMap<String, Method>);

impl<'ast> Visit<'ast> for Methods {
    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        visit::visit_item_impl(self, item);
        let Type::Path(path) = &*item.self_ty else { return };
        let Some(name) = path.path.segments.last().map(|segment| segment.ident.to_string()) else { return };
        if item.trait_.is_some() || !TYPES.contains(&name.as_str()) {
            return;
        }
        for method in &item.items {
            if let ImplItem::Fn(method) = method
                && matches!(method.vis, Visibility::Public(_))
            {
                self.0.insert(format!("{name}::{}", method.sig.ident), Method::of(method));
            }
        }
    }
}

impl Method {
    fn of(method: &ImplItemFn) -> Self {
        let arguments = method.sig.inputs.iter().filter_map(|argument| match argument {
            FnArg::Receiver(_) => None,
            FnArg::Typed(argument) => Some(plain(&argument.to_token_stream().to_string())),
        });
        Method {
            // A blocking handle does not keep the client, which therefore is an argument.
            arguments: arguments.filter(|argument| argument != "client : & McpClient").collect(),
            result: match &method.sig.output {
                ReturnType::Default => "()".to_owned(),
                ReturnType::Type(_, result) => result_of(result),
            },
            first_sentence: first_sentence(&method.attrs),
        }
    }
}

/// Returns the type of a method's result: of a future, its output.
fn result_of(result: &Type) -> String {
    let text = plain(&result.to_token_stream().to_string());
    let output = text.strip_prefix("impl Future < Output = ").and_then(|rest| rest.split_once(" > + Send"));
    let output = output.map_or(&*text, |(output, _)| output).to_owned();
    REPLACEMENTS.iter().fold(output, |text, (from, to)| text.replace(from, to))
}

/// Returns an argument without what must differ: `mut`, and trait bounds that only futures need.
fn plain(argument: &str) -> String {
    argument.replace("& mut McpClient", "& McpClient").trim_start_matches("mut ").to_owned()
}

fn first_sentence(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(value) if value.path.is_ident("doc") => match &value.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let text = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    text.split_once(". ").map_or(text.clone(), |(first, _)| format!("{first}."))
}

fn methods_of(directory: &Path, methods: &mut Methods) {
    for entry in fs::read_dir(directory).expect("the sources are there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            methods_of(&path, methods);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("it can be read");
            methods.visit_file(&syn::parse_file(&text).expect("it is Rust"));
        }
    }
}

fn methods(adapters: &[&str]) -> BTreeMap<String, Method> {
    let mut methods = Methods::default();
    for adapter in adapters {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters").join(adapter).join("src");
        methods_of(&sources, &mut methods);
    }
    methods.0
}

#[test]
fn blocking_and_async_clients_have_the_same_methods() {
    // What both clients share is in the crate `client`.
    let blocking = methods(&["blocking", "client"]);
    let driver = methods(&["driver", "client"]);
    assert!(blocking.len() > 80, "the sources were read: {}", blocking.len());
    let mut wrong = Vec::new();
    for name in blocking.keys().chain(driver.keys()) {
        let is_known = DIFFERENCES.iter().any(|(known, _)| known == name);
        match (blocking.get(name), driver.get(name)) {
            (Some(one), Some(other)) => {
                if is_known {
                    wrong.push(format!("{name} is in both clients, so it is no difference any more"));
                }
                if one.first_sentence != other.first_sentence {
                    wrong.push(format!(
                        "{name} is described differently:\n    {}\n    {}",
                        one.first_sentence, other.first_sentence
                    ));
                }
                if (one.result != other.result) != RESULT_DIFFERENCES.iter().any(|(known, _)| known == name) {
                    wrong.push(format!("{name} returns {} and {}", one.result, other.result));
                }
                let may_differ = ARGUMENT_DIFFERENCES.iter().any(|(known, _)| known == name);
                if (one.arguments != other.arguments) != may_differ {
                    wrong.push(format!("{name}: {:?} and {:?}", one.arguments, other.arguments));
                }
            }
            _ if is_known => {}
            (Some(_), None) => wrong.push(format!("{name} is only in the blocking client")),
            _ => wrong.push(format!("{name} is only in the async clients")),
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_known_difference_is_one() {
    let (blocking, driver) = (methods(&["blocking", "client"]), methods(&["driver", "client"]));
    for (name, reason) in DIFFERENCES.iter().chain(ARGUMENT_DIFFERENCES).chain(RESULT_DIFFERENCES) {
        assert!(blocking.contains_key(*name) || driver.contains_key(*name), "{name} does not exist: {reason}");
    }
}
