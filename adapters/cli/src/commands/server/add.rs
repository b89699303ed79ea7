//! `mcpwire server add`: adds a server to the configuration.

use mcpwire_hub::ErrorKind;
use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::secrets::SecretRef;

use crate::args::{AddServer, Options, Place, TlsArgs, Variable};
use crate::console::{Console, output};
use crate::failure::{Failure, hub_message};
use crate::hub::{HubHandle, Request, advice, sentence, word};
use crate::text;

pub(super) fn run(arguments: &AddServer, place: &Place, options: &Options) -> Result<(), Failure> {
    let AddServer { name, secrets, .. } = arguments;
    let config = config(arguments, options)?;
    let mut handle = HubHandle::open(place, options)?;
    let added = handle.ask::<()>(Request::Add { config: config.to_json(), start: handle.is_remote() });
    if let Err(error) = added {
        handle.close();
        let failure = Failure::from_hub(&error);
        return Err(match error.kind() {
            ErrorKind::Conflict => failure
                .with_hint(format!("Choose another name, or remove that server: mcpwire server remove {}", word(name))),
            _ => failure,
        });
    }
    let console = Console::new(options);
    for secret in secrets {
        console.warn(&format!("Set its secret: mcpwire secret set {} {}", word(name), word(secret)));
    }
    // A server that needs secrets cannot be started before they are set.
    if handle.is_remote() && secrets.is_empty() {
        let started = handle.ask::<()>(Request::Start { server: config.id.to_string() });
        let outcome = match started {
            Ok(()) => format!("{name}: started in the running hub"),
            Err(error) => {
                format!("{name}: added, but not started: {} {}", sentence(&hub_message(&error)), advice(name, &error))
            }
        };
        console.warn(&text::line(&outcome));
    }
    handle.close();
    if options.json { output::json(&config.without_secrets()) } else { Ok(()) }
}

fn config(arguments: &AddServer, options: &Options) -> Result<McpConfig, Failure> {
    let AddServer { name, npm, pypi, docker, url, secrets, lazy, tls, command } = arguments;
    let mut words = command.iter();
    let mut config = match (npm, pypi, docker, url) {
        (Some(package), ..) => McpConfig::npm(name, package),
        (_, Some(package), ..) => McpConfig::pypi(name, package),
        (_, _, Some(image), _) => McpConfig::docker(name, image),
        (_, _, _, Some(url)) => McpConfig::http(name, url),
        _ => McpConfig::binary(name, words.next().map_or("", String::as_str)),
    };
    config = config.args(words.cloned());
    config.lazy = *lazy;
    config.cwd.clone_from(&options.cwd);
    config.timeouts.call = options.timeout;
    let TlsArgs { ca, client_cert, client_key, proxy } = tls;
    let absolute = |path: &Option<std::path::PathBuf>| path.as_ref().and_then(|path| std::path::absolute(path).ok());
    config.ca_file = absolute(ca);
    config.client_certificate = absolute(client_cert);
    config.client_key = absolute(client_key);
    config.proxy.clone_from(proxy);
    for variable in &options.variables {
        match variable {
            Variable::Set(name, value) => config = config.env(EnvVarConfig::value(name, value)),
            Variable::Inherit(name) => config.inherit_env.push(name.clone()),
        }
    }
    for name in secrets {
        let secret = SecretRef::stored(config.id, name).map_err(Failure::from_hub)?;
        config = config.env(EnvVarConfig::secret(name, secret));
    }
    Ok(config)
}
