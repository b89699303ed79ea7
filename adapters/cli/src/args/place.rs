//! [`Place`]: where the configuration is.

use std::path::PathBuf;

/// Where the configuration is.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Place {
    /// Keep configuration, secrets and logs below DIR [default: the user's directories]
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub(crate) config_dir: Option<PathBuf>,
}
