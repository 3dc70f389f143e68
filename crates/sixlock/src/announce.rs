//! What a cloud says when it is ready.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;

use sixlock_cloud::{ADMIN_PASSWORD as PASSWORD, Running, SIGN_IN_LINK as LINK, replace_private};

/// Says where everything is. The line that begins with `ready` is for programs. What signs somebody in is shown on a terminal only:
/// what else takes it down, as a system's journal does, keeps it. There, it says which files in `data` hold it.
pub(crate) fn announce(cloud: &Running, data: &Path) -> io::Result<()> {
    let coap = cloud.coap.map_or("off".into(), |address| address.to_string());
    let ready = format!("ready http={} coap={coap} coaps={}", cloud.http, cloud.coaps);
    if io::stdout().is_terminal() {
        to_stdout!("{ready}");
        show(cloud);
        return Ok(());
    }
    let said = write(&cloud.sign_in_link, cloud.first_password.as_deref(), data)?;
    to_stdout!("{ready}\n{said}");
    Ok(())
}

fn show(cloud: &Running) {
    to_stdout!("dashboard: {}", cloud.sign_in_link);
    to_stdout!("           (signs you in once, within an hour; Ctrl-C ends all)");
    if let Some(password) = &cloud.first_password {
        to_stdout!("           later: user admin, password {password} (shown this once)");
    }
}

/// Writes what signs somebody in, and tells where.
fn write(link: &str, password: Option<&str>, data: &Path) -> io::Result<String> {
    // A file can be opened from wherever its reader is.
    let data = fs::canonicalize(data)?;
    let (link_file, password_file) = (data.join(LINK), data.join(PASSWORD));
    replace_private(&link_file, link)?;
    let mut said =
        format!("dashboard: the link in {} signs you in once, within an hour", link_file.display());
    if let Some(password) = password {
        replace_private(&password_file, password)?;
        said += &format!(
            "\n           later: user admin, with the password in {}; take it from there",
            password_file.display()
        );
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_signs_in_stands_in_files_for_their_owner_and_is_not_said() {
        let data = tempfile::tempdir().unwrap();
        let said = write("http://127.0.0.1:1/sign-in?t=0123", Some("s3cret"), data.path()).unwrap();
        assert!(!said.contains("0123") && !said.contains("s3cret"), "{said}");
        for (file, text) in [(LINK, "http://127.0.0.1:1/sign-in?t=0123\n"), (PASSWORD, "s3cret\n")] {
            let file = fs::canonicalize(data.path()).unwrap().join(file);
            assert!(said.contains(&file.display().to_string()), "{said}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        // A later start has no password: that of the first stays where it is.
        write("http://127.0.0.1:1/sign-in?t=4567", None, data.path()).unwrap();
        assert_eq!(fs::read_to_string(data.path().join(PASSWORD)).unwrap(), "s3cret\n");
    }
}
