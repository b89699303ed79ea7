//! The help that `mcpwire` and `mcpwire -h` print: one screen of 80 columns and 24 lines.

/// All commands with the most frequent command lines. `mcpwire --help` prints the long help.
pub(super) const SHORT_HELP: &str = "\
Talk to MCP servers: see what they offer, call their tools, keep them running

Use a server     info  tools  call  task  resources  read  prompts  prompt
                 complete  listen  ping  request  test
Configure        server add|import|list|show|enable|disable|remove|logs|doctor
                 secret set|list|remove      login  logout  whoami
Keep running     hub start|stop|restart|auto|status|logs|run|reload|service
                 status   server start|stop|restart
Other            generate rust      shell  demo  completions  man

SERVER is a configured name. In its place: --demo, --url URL, or -- COMMAND.

  mcpwire demo                                 a tour, nothing to install
  mcpwire tools -- npx -y some-mcp-server      try a server
  mcpwire call add a=2 b=40 --demo             call a tool
  mcpwire server add notes --url URL           configure one
  mcpwire login notes                          log in, if it wants that
  mcpwire info notes                           what it offers
  mcpwire call notes search query=tea          call a tool by name
  mcpwire hub start                            keep all running: calls in 10 ms

Common options: --json, --timeout 30s, --quiet, --trace FILE
mcpwire COMMAND --help explains a command, mcpwire --help lists all options.
";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::SHORT_HELP;
    use crate::args::Args;

    #[test]
    fn it_fits_on_a_screen_and_names_each_command() {
        assert!(SHORT_HELP.lines().count() <= 24, "{} lines", SHORT_HELP.lines().count());
        for line in SHORT_HELP.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let words: Vec<&str> = SHORT_HELP.split([' ', '|', '\n', ',']).collect();
        for command in Args::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(words.contains(&command.get_name()), "{}", command.get_name());
            for nested in command.get_subcommands().filter(|command| !command.is_hide_set()) {
                assert!(words.contains(&nested.get_name()), "{} {}", command.get_name(), nested.get_name());
            }
        }
    }
}
