//! `mcpwire hub start`, `stop`, `restart`, `auto`, `status`, `logs` and `service`: runs the hub in the background.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcpwire_hub::files::{Fs as _, SystemFs, make_private};
use mcpwire_hub::layout::Layout;
use mcpwire_tokio::protocol::Negotiate;
use serde::Serialize;

use crate::args::{Manager, Options, Place, protocol_name};
use crate::console::{Console, Interrupt, output};
use crate::failure::{Failure, NOT_CONNECTED};
use crate::hub::{HubHandle, Request, detach, is_hub_running, layout};
use crate::text;

/// Maximum time for a hub to open its socket, or to end. A hub that ends gives its servers some seconds each, all at the same time.
const PATIENCE: Duration = Duration::from_secs(30);
/// Interval at which a command checks whether the hub has started or ended.
const CHECK: Duration = Duration::from_millis(20);
/// Interval at which `mcpwire hub logs -f` looks for new lines.
const FOLLOW: Duration = Duration::from_millis(200);
/// Maximum size of the log of earlier hubs to keep when a hub starts, in bytes.
const LARGE_LOG: u64 = 4 << 20;

/// Starts a hub in the background, and waits until it answers.
pub(super) fn start(place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    let console = Console::new(options);
    if is_hub_running(&layout) {
        console.note("a hub is running already: mcpwire hub status");
        return Ok(());
    }
    let log = log_path(&layout);
    let output = open_log(&log).map_err(|error| not_started(&format!("{}: {error}", log.display())))?;
    let from = output.metadata().map_or(0, |metadata| metadata.len());
    let program = std::env::current_exe().map_err(|error| not_started(&error.to_string()))?;
    let mut command = Command::new(program);
    command.args(arguments_of_run(place, options)).stdin(Stdio::null());
    command.stdout(output.try_clone().map_or_else(|_| Stdio::null(), Into::into)).stderr(output);
    detach(&mut command);
    let mut child = command.spawn().map_err(|error| not_started(&error.to_string()))?;
    let interrupt = Interrupt::install();
    let started = Instant::now();
    while !is_hub_running(&layout) {
        let ended = child.try_wait().map_err(|error| not_started(&error.to_string()))?;
        if ended.is_some() || started.elapsed() > PATIENCE || interrupt.was_pressed() {
            end(&mut child);
            let lines = tail_of(&log, from);
            return Err(not_started(lines.last().map_or("it wrote nothing", String::as_str))
                .with_hint(format!("Its log: {}", text::line(&log.display().to_string()))));
        }
        std::thread::sleep(CHECK);
    }
    console.note(&format!(
        "the hub runs in the background (process {}); next: mcpwire status, mcpwire hub stop",
        child.id()
    ));
    Ok(())
}

/// Lets commands start the hub in the background when they need a configured server, or no longer.
pub(super) fn set_auto(on: bool, place: &Place, options: &Options) -> Result<(), Failure> {
    let marker = auto_marker(&layout(place)?);
    let set = match marker.parent() {
        Some(directory) if on => SystemFs.create_directory(directory).and_then(|()| fs::write(&marker, "")),
        _ => fs::remove_file(&marker).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        }),
    };
    set.map_err(|error| Failure::usage("hub", format!("{}: {error}", text::line(&marker.display().to_string()))))?;
    Console::new(options).note(if on {
        "commands that need a configured server start the hub in the background from now on"
    } else {
        "commands no longer start the hub; one that is running goes on: mcpwire hub stop"
    });
    Ok(())
}

/// Starts the hub in the background if the user wants commands to do that, and none is running. A hub that cannot be started is
/// no failure of the command, which starts its servers itself then.
pub(super) fn start_if_wanted(place: &Place, options: &Options) -> Result<(), Failure> {
    let layout = layout(place)?;
    if auto_marker(&layout).exists() && !is_hub_running(&layout) {
        let quiet = Options { quiet: true, ..options.clone() };
        match start(place, &quiet) {
            Ok(()) => Console::new(options).note("the hub runs in the background now (mcpwire hub auto off)"),
            Err(failure) => Console::new(options).warn(failure.message()),
        }
    }
    Ok(())
}

/// The file that exists while the user wants commands to start the hub.
fn auto_marker(layout: &Layout) -> PathBuf {
    layout.state().join("start-hub")
}

/// Ends the running hub with its servers, and waits until its process has ended.
pub(super) fn stop(place: &Place, options: &Options) -> Result<(), Failure> {
    let Some(mut hub) = HubHandle::connect(place, options)? else {
        Console::new(options).note("no hub is running: there is nothing to stop");
        return Ok(());
    };
    hub.ask::<()>(Request::End)?;
    if !hub.wait_until_closed(PATIENCE) {
        return Err(Failure::not_connected("hub", "the hub has not ended yet: it still waits for its servers"));
    }
    let is_auto = auto_marker(&layout(place)?).exists();
    let again = if is_auto { "; the next command that needs it starts it again: mcpwire hub auto off" } else { "" };
    Console::new(options).note(&format!("the hub has ended{again}"));
    Ok(())
}

/// Ends the running hub, if there is one, and starts a hub in the background.
pub(super) fn restart(place: &Place, options: &Options) -> Result<(), Failure> {
    if is_hub_running(&layout(place)?) {
        stop(place, options)?;
    }
    start(place, options)
}

/// Shows whether a hub is running, and what it runs. The exit status is 3 if no hub is running.
pub(super) fn status(place: &Place, options: &Options) -> Result<u8, Failure> {
    #[derive(Serialize)]
    struct Status {
        running: bool,
        servers: usize,
        running_servers: usize,
        auto: bool,
        log: PathBuf,
    }
    let layout = layout(place)?;
    let (auto, log) = (auto_marker(&layout).exists(), log_path(&layout));
    let Some(mut hub) = HubHandle::connect(place, options)? else {
        let next = if auto { "The next command that needs one starts it" } else { "Start one: mcpwire hub start" };
        let status = Status { running: false, servers: 0, running_servers: 0, auto, log };
        output::show(options, &status, |out| writeln!(out, "No hub is running. {next}"))?;
        return Ok(NOT_CONNECTED);
    };
    let rows = hub.rows(Request::Status)?;
    let running_servers = rows.iter().filter(|row| row.is_running()).count();
    let status = Status { running: true, servers: rows.len(), running_servers, auto, log };
    output::show(options, &status, |out| {
        writeln!(out, "The hub is running: {running_servers} of {} servers run, see mcpwire status.", status.servers)?;
        writeln!(out, "Its log, if it runs in the background: {}", text::line(&status.log.display().to_string()))
    })?;
    Ok(0)
}

/// Prints the last lines of the log of the hub in the background. With `follow`, prints new lines until Ctrl-C.
pub(super) fn logs(lines: usize, follow: bool, place: &Place) -> Result<(), Failure> {
    let log = log_path(&layout(place)?);
    let all = tail_of(&log, 0);
    for line in &all[all.len().saturating_sub(lines)..] {
        output::line(&text::line(line)).map_err(|error| Failure::output(&error))?;
    }
    if follow { follow_log(&log) } else { Ok(()) }
}

/// Prints the lines that are appended to the file, until Ctrl-C. Begins again if the file becomes shorter.
fn follow_log(log: &Path) -> Result<(), Failure> {
    let interrupt = Interrupt::install();
    let mut at = fs::metadata(log).map_or(0, |metadata| metadata.len());
    let mut begun = Vec::new();
    while !interrupt.was_pressed() {
        let length = fs::metadata(log).map_or(0, |metadata| metadata.len());
        if length < at {
            (at, begun) = (0, Vec::new());
        }
        let new = read_from(log, at).unwrap_or_default();
        at += new.len() as u64;
        begun.extend(new);
        while let Some(end) = begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = begun.drain(..=end).collect();
            output::line(&text::line(&String::from_utf8_lossy(&line))).map_err(|error| Failure::output(&error))?;
        }
        std::thread::sleep(FOLLOW);
    }
    Ok(())
}

/// Prints a unit that runs the hub as a service of the user: for systemd, for launchd, or for the registry of Windows.
pub(super) fn service(manager: Option<Manager>, place: &Place, options: &Options) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(|error| not_started(&error.to_string()))?;
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(arguments_of_run(place, options));
    let unit = match manager.unwrap_or(Manager::USUAL) {
        Manager::Systemd => systemd_unit(&words),
        Manager::Launchd => launchd_unit(&words),
        Manager::Registry => run_key(&words),
    };
    output::bytes(unit.as_bytes())
}

fn systemd_unit(words: &[String]) -> String {
    // systemd replaces `%` and `$`, and takes double quotes and backslashes for its own.
    let quoted = words.iter().map(|word| {
        format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$"))
    });
    let command = quoted.collect::<Vec<_>>().join(" ");
    format!(
        "# Save as ~/.config/systemd/user/mcpwire.service, then:\n\
         #   systemctl --user daemon-reload && systemctl --user enable --now mcpwire\n\
         [Unit]\n\
         Description=MCP servers of mcpwire\n\
         After=network-online.target\n\n\
         [Service]\n\
         ExecStart={command}\n\
         Restart=on-failure\n\
         # The hub ends its servers itself, and gives them time.\n\
         KillMode=mixed\n\
         TimeoutStopSec=30\n\n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

fn launchd_unit(words: &[String]) -> String {
    let mut arguments = String::new();
    for word in words {
        let word = word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        // Writing to memory cannot fail.
        let _ = writeln!(arguments, "    <string>{word}</string>");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!-- Save as ~/Library/LaunchAgents/mcpwire.hub.plist, then: launchctl load ~/Library/LaunchAgents/mcpwire.hub.plist -->\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n\
         <dict>\n  \
           <key>Label</key><string>mcpwire.hub</string>\n  \
           <key>ProgramArguments</key>\n  \
           <array>\n{arguments}  </array>\n  \
           <key>RunAtLoad</key><true/>\n  \
           <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n  \
           <key>ExitTimeOut</key><integer>30</integer>\n\
         </dict>\n\
         </plist>\n"
    )
}

/// The command that lets Windows start the hub when the user logs on. It starts the hub in the background, because `hub run` would
/// keep a window open.
fn run_key(words: &[String]) -> String {
    // `reg` takes quotes with a backslash before them. A path cannot contain quotes.
    let words: Vec<String> = words.iter().map(|word| format!("\\\"{word}\\\"")).collect();
    let key = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run";
    format!(
        "rem Run this command once; to undo it: reg delete {key} /v mcpwire\n\
         reg add {key} /v mcpwire /f /d \"{}\"\n",
        words.join(" ").replacen(r#"\"hub\" \"run\""#, "hub start", 1)
    )
}

/// Returns the arguments with which this program runs the hub with the same options.
fn arguments_of_run(place: &Place, options: &Options) -> Vec<String> {
    let mut words = ["hub", "run"].map(str::to_owned).to_vec();
    if let Some(directory) = &place.config_dir {
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.clone());
        words.extend(["--config-dir".to_owned(), directory.to_string_lossy().into_owned()]);
    }
    if options.protocol != Negotiate::Auto {
        words.extend(["--protocol".to_owned(), protocol_name(options.protocol)]);
    }
    if let Some(most) = options.max_message {
        words.extend(["--max-message".to_owned(), most.to_string()]);
    }
    words
}

/// The file to which a hub in the background writes.
fn log_path(layout: &Layout) -> PathBuf {
    layout.state().join("hub.log")
}

/// Opens the log for a new hub. A large log is kept as `hub.log.1`.
fn open_log(log: &Path) -> io::Result<File> {
    if let Some(directory) = log.parent() {
        SystemFs.create_directory(directory)?;
    }
    if fs::metadata(log).is_ok_and(|metadata| metadata.len() > LARGE_LOG) {
        fs::rename(log, log.with_extension("log.1"))?;
    }
    let mut options = File::options();
    options.append(true).create(true);
    make_private(&mut options);
    options.open(log)
}

/// Returns the lines of the log from a position on. Empty if the log cannot be read.
fn tail_of(log: &Path, from: u64) -> Vec<String> {
    let bytes = read_from(log, from).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

fn read_from(log: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(2 * LARGE_LOG).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn end(child: &mut Child) {
    // Errors are ignored: the process may have ended.
    let _ = child.kill();
    let _ = child.wait();
}

fn not_started(why: &str) -> Failure {
    Failure::not_connected("hub", &format!("the hub could not be started: {}", text::line(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_quote_what_their_readers_would_replace() {
        let words = ["/opt/a b/mcpwire", "100%", "$HOME", "say \"hi\" <&>"].map(str::to_owned);
        let unit = systemd_unit(&words);
        assert!(unit.contains(r#"ExecStart="/opt/a b/mcpwire" "100%%" "$$HOME" "say \"hi\" <&>""#), "{unit}");
        let unit = launchd_unit(&words);
        assert!(unit.contains("<string>/opt/a b/mcpwire</string>"), "{unit}");
        assert!(unit.contains("<string>say \"hi\" &lt;&amp;&gt;</string>"), "{unit}");
        let task = run_key(&["C:\\a b\\mcpwire.exe", "hub", "run"].map(str::to_owned));
        assert!(task.ends_with("/d \"\\\"C:\\a b\\mcpwire.exe\\\" hub start\"\n"), "{task}");
    }
}
