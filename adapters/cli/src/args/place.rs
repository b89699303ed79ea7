//! [`Place`]: the option for the directory of the configuration.

use std::path::PathBuf;

/// The option for the directory of the configuration.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Place {
    /// Keep configuration, secrets and logs below DIR [default: the user's directories]
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub(crate) config_dir: Option<PathBuf>,
}
