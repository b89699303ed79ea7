//! Configurations, imports, secrets, and launches of servers.

mod configurations_are_validated;
mod files_of_other_programs_are_imported;
mod importing;
mod logins_are_configured;
mod secrets_are_kept_safe;
mod servers_are_launched_from_configurations;
#[cfg(unix)]
mod special_files_do_not_stop_the_program;
mod store_keeps_the_file_whole;
