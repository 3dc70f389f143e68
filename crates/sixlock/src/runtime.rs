use std::io;

use tokio::runtime::{Builder, Runtime};

/// By how many steps of `nice` the threads of [`runtime`] give way: beside a busy thread that serves devices, they get a tenth of its processor.
#[cfg(target_os = "linux")]
const GIVES_WAY: i32 = 10;

/// The runtime in which a cloud is started: what it does for HTTP gives way to the threads that serve devices and write the database,
/// which the thread that calls this starts. So a flood of strangers who begin TLS keeps no device waiting. Only Linux gives each thread a
/// priority of its own.
pub(crate) fn runtime() -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.enable_all();
    #[cfg(target_os = "linux")]
    {
        let own = rustix::process::getpriority_process(None)?;
        // A thread that cannot give way serves all the same.
        builder.on_thread_start(move || {
            let _ = rustix::process::setpriority_process(None, own + GIVES_WAY);
        });
    }
    builder.build()
}
