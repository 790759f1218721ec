//! `completions`: a script that makes a shell complete the commands and options of this program. It is made from the
//! same description as the help, so that it knows every option.

use crate::outcome::{Answer, Exit, Failure};
use clap::Command;
use clap_complete::Shell;

/// Options of `completions`.
#[derive(clap::Args, Debug)]
#[command(after_help = "bash: cloom completions bash > ~/.local/share/bash-completion/completions/cloom
zsh:  cloom completions zsh > a folder of $fpath, as the file _cloom
fish: cloom completions fish > ~/.config/fish/completions/cloom.fish")]
pub struct Options {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs `completions` for the program that `command` describes.
pub fn run(options: &Options, command: Command) -> Result<Answer, Failure> {
    let mut command = command;
    let mut out = Vec::new();
    clap_complete::generate(options.shell, &mut command, "cloom", &mut out);
    Ok(Answer { out, exit: Exit::Fine, notes: String::new() })
}
