// Package history is the record of a run, and the only thing that a verdict
// rests on: everything that was done, injected and seen, in one append-only
// file. It is saved before anything is judged, so that it outlives whatever
// happens to the harness.
//
// # The format
//
// A history is a text file of JSON objects, one a line, in UTF-8, optionally
// compressed with gzip as a whole. The first line is a Header; it names the
// format and its version, and a reader refuses any other. Each further line is
// an Event. Its field kind says which one of the payloads it has, and the field
// of that name holds it:
//
//	{"seq":97,"at":3120406125,"from":3118201984,"kind":"request","member":"cp1","request":{"class":"guarded","verb":"create",…,"code":503,"barrier":true}}
//	{"seq":98,"at":3121650871,"kind":"stored","stored":{"type":"put","key":"/registry/leases/kube-system/apiserver-cp1","revision":12,…}}
//
// Times are nanoseconds since Header.Started by one monotonic clock, that of
// the harness, for all sources; at never decreases from line to line. It is the
// moment of recording, so an event may have happened a little earlier, never
// later. Revisions are etcd's, and equal the resourceVersion of the object that
// a change made: they join what clients were answered with what was stored.
//
// The number seq counts from 1 without gaps, and the last line is an event of
// kind end. Revisions of stored changes never decrease. An event has the one payload
// that its kind names; it names only members that the header has; no time lies before
// 0, after MaxTime or after the one at which the event was complete; what the recorder
// counts is not negative; no value but an empty list or map is null; and phases, changes,
// types, classes and sources are those that this package has constants for.
//
// An event of kind starvation tells of a stretch of time in which the machine made processes
// of the run wait for a CPU or a disk, or the harness was late. What took too long by no more than the
// measured waiting is unclear, see pkg/law. The first one says what the machine lets the recorder measure;
// a history without one says nothing of its machine.
//
// A file that breaks any of this is damaged: a Reader says so while it reads, passes over
// the lines that break the format, and nothing passes on it. A Writer ends the run rather
// than write what a Reader refuses. Lines, size, time and members have bounds; see MaxLine
// and those beside it.
//
// No event holds a secret: of stored objects only the version they are encoded
// in, their name and the harness's own tag are kept, and the content of
// StorageVersions and Leases. Credentials are masked in the last lines of a component's log
// that an event of kind process has.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package history
