// Package law is the engine that judges: requirements are declared as laws over facts, and
// every obligation that a law finds in a history ends in a ledger.
//
//	History ─► Facts (pkg/fact, and those of a KEP) ─► Laws ─► Ledger ─► Result
//
// The engine knows no KEP. Each KEP has a package below this one with its facts, its laws
// and, for tests, its stories.
//
// # Obligations
//
// An obligation is one case in which a law asks for something: a leader crashed, so there
// has to be another one. None ends silently. Each is, at the end, [Met], [Late], [Broken],
// [Unclear], [Excused] with a reason, [Superseded] by one that began before it, or [Open].
// A law passes only if nothing was late or broken, nothing stayed unclear or open, no more
// was excused than met, and at least as much was met as the catalog asks for. The clock
// of an obligation stands while what it takes is not there; it never begins anew.
//
// What took too long while the machine was starved is unclear, not late, if the measured
// waiting is at least as long as it exceeded its bound ([UnlessStarved]). What must never be
// stays broken however starved the machine was, and nothing comes to be met by starvation.
//
// # Shapes
//
// A law is declared in a shape, and the shape ends its obligations. [Each]: every subject is
// one obligation, which ends by what is known of it alone. [Deadline]: something comes about
// within a bound, as moments or looks at samples show. [Always]: a condition holds while
// another one does. [SameAcross]: all give the same value. [Together]: a law of several
// parts. [Written] is for what fits none of them. A subject with a method Entry describes its
// obligation itself, and the methods of [Entry] end it.
//
// # Bounds
//
// Bounds, tolerances and the least that must be seen are rows of the catalog
// (pkg/requirement/catalog.yaml) and named in a law, so that a vendor can read them and
// the suite's digest covers them.
//
// # Adding to it
//
// A requirement: a row in catalog.yaml; a file in the package of its KEP with one law;
// the law's line in that package's laws.go; stories that pass, fail and are too weak; a
// planted defect.
//
// A fact: a file and a test file in the package of its KEP, or in pkg/fact if two KEPs
// need it.
//
// A recorder: its event in pkg/history, the recorder in pkg/observe, its name in
// [fact.Sources] and in the format (pkg/history/validate_values.go) if it can miss something.
//
// A KEP: a package below this one with a func KEP() law.KEP, and its line in
// pkg/check/keps.go.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package law
