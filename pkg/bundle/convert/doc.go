// Package convert rewrites a bundle of an older format into the format of this evenkeel:
// the names of events and fields in the history, and of steps and settings in scenario and
// topology. It changes names only. A line that breaks the old format stays as it is, so
// that it breaks the new format too: converting never mends a history.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package convert
