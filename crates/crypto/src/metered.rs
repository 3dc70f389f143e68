use crate::{Call, Delegate, Operations};

/// A backend that counts the operations of another, from which the time on a processor is computed.
#[derive(Clone, Debug, Default)]
pub struct Metered<B> {
    backend: B,
    operations: Operations,
}

impl<B> Metered<B> {
    /// Counts what `backend` does from now on.
    pub fn new(backend: B) -> Self {
        Self { backend, operations: Operations::default() }
    }

    /// Returns the operations since the last call.
    pub fn take(&mut self) -> Operations {
        core::mem::take(&mut self.operations)
    }
}

impl<B, P> Delegate<P> for Metered<B> {
    type Backend = B;

    fn backend(&mut self, call: Call) -> &mut B {
        self.operations.count(call);
        &mut self.backend
    }
}
