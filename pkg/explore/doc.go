// Package explore composes schedules from a seed, plays them, and keeps what they find.
//
// A schedule is a Scenario and a Topology. The Composer draws it from the registries of steps,
// faults and workloads (package registry), so that whatever registers itself is explored; the
// only rules by hand are those in effects.go and serving.go, which say what a step leaves behind and
// what keeps it from its end. A schedule is valid by construction: it ends with everything healed,
// it keeps a quorum, and no member runs a release that the others cannot read.
//
// The Explorer plays schedules one after the other or side by side. What a run shows that no run
// before has shown (states.go) puts its schedule into the corpus, from which later ones are
// varied. A run in which a requirement fails is a find, known by its fingerprint. Shrink makes a
// find smaller.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package explore
