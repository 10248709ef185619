package run

// LeftBehindError says that the run has left an external cluster changed. The verdict on
// what was recorded holds, but the run is no success: the user has to undo what Err names.
type LeftBehindError struct{ Err error }

// Error says what is left, and how to remove it.
func (e *LeftBehindError) Error() string {
	return "the cluster is not as it was found: " + e.Err.Error()
}

// Unwrap gives the reason to errors.Is and errors.As.
func (e *LeftBehindError) Unwrap() error { return e.Err }

// LeakError says that the bundle held credentials, or may hold some that it was not
// searched for: its verdict must not count.
type LeakError struct{ Err error }

// Error says which credentials, and where.
func (e *LeakError) Error() string { return e.Err.Error() }

// Unwrap gives the reason to errors.Is and errors.As.
func (e *LeakError) Unwrap() error { return e.Err }
