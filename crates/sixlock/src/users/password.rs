//! Passwords from the terminal, without showing them, or from standard input. Never from the command line: other users of
//! the machine can read that.

use std::error::Error;
use std::io::{self, BufRead, IsTerminal, Read, Write};

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

/// No password is longer.
const LONGEST: u64 = 1024;

/// A new password for `name`: from the terminal, twice, or the first line of standard input.
pub(super) fn read(name: &str) -> Result<String, Box<dyn Error>> {
    if !io::stdin().is_terminal() {
        return line();
    }
    let hidden = Hidden::new()?;
    let password = ask(&format!("New password for {name}: "))?;
    let again = ask("The same again: ")?;
    drop(hidden);
    if password == again { Ok(password) } else { Err("the two are not the same; nothing was changed".into()) }
}

fn ask(question: &str) -> Result<String, Box<dyn Error>> {
    eprint!("{question}");
    io::stderr().flush()?;
    line()
}

/// A line of standard input, without its end.
fn line() -> Result<String, Box<dyn Error>> {
    let mut line = String::new();
    io::stdin().lock().take(LONGEST).read_line(&mut line)?;
    let password = line.strip_suffix('\n').unwrap_or(&line);
    let password = password.strip_suffix('\r').unwrap_or(password);
    if password.is_empty() {
        return Err("no password was given; nothing was changed".into());
    }
    Ok(password.to_owned())
}

/// A terminal that does not show what is typed, but for the ends of lines, until this is dropped.
struct Hidden(Termios);

impl Hidden {
    fn new() -> Result<Self, Box<dyn Error>> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_flags.remove(LocalFlags::ECHO);
        hidden.local_flags.insert(LocalFlags::ECHONL);
        tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &hidden)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &self.0);
    }
}
