//! One member as a child process.
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::event::Event;

/// A running member.
pub struct Process {
    child: Child,
    /// Closing it tells the member to leave.
    stdin: Option<ChildStdin>,
}

/// So long a process may still be there after its output has ended.
const EXIT: Duration = Duration::from_secs(2);

/// What was told, and by whom.
pub type Told = (String, Event);

impl Process {
    /// Starts a member of this name; what it tells goes to `listener`.
    ///
    /// # Errors
    /// The process does not start.
    pub fn start(name: &str, arguments: &[String], listener: Sender<Told>) -> anyhow::Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .args(["member", "--name", name])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a member")?;
        let stdout = child.stdout.take().context("a member without output")?;
        let name = name.to_owned();
        thread::spawn(move || listen(&name, stdout, &listener));
        Ok(Process {
            stdin: child.stdin.take(),
            child,
        })
    }

    /// Lets the member close its consumer and go.
    pub fn leave(&mut self) {
        self.stdin = None;
    }

    /// Ends a member that was told to leave and has had its time.
    ///
    /// # Errors
    /// It had not left, or with an error.
    pub fn gone(mut self) -> anyhow::Result<()> {
        let deadline = Instant::now() + EXIT;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                anyhow::ensure!(status.success(), "it left with {status}");
                return Ok(());
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.kill()?;
        anyhow::bail!("it took too long")
    }

    /// Kills the member; the group learns of it when the session times out.
    ///
    /// # Errors
    /// It cannot be killed.
    pub fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().context("cannot kill a member")?;
        self.child.wait()?;
        Ok(())
    }
}

/// Ends with the process, or with the demo.
fn listen(name: &str, stdout: ChildStdout, listener: &Sender<Told>) {
    let told = |event| listener.send((name.to_owned(), event)).is_ok();
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        // A killed member may not have finished its last line.
        let Ok(event) = serde_json::from_str(&line) else {
            break;
        };
        if !told(event) {
            return;
        }
    }
    told(Event::Ended);
}
