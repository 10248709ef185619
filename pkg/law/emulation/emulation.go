// Package emulation judges KEP-4330: API servers that emulate an older release, as in an
// upgrade of two steps, the binaries first and what they emulate afterwards. Its facts are
// which version each process behaves like, what the servers of a release that emulate
// nothing told of themselves in the same run, and what is stored, served and read.
//
// What an emulating server owes is what the release that it emulates does. No table of
// releases says what that is: servers of that release in the same run do. Where there is
// none, nothing is owed.
//
// That the leader is the candidate with the lowest version (EV-05) is judged with the
// elections in pkg/law/election.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package emulation

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Facts are the facts of one history that the laws of emulated versions are about.
type Facts struct {
	*fact.History
	puts    []*puts
	alike   map[putsKey]*puts
	changes int // of processes of API servers
	reads   []read
	// migrations are in the order of their creation, and living those that were not deleted,
	// by key.
	migrations []*migration
	living     map[string]*migration
	trials     []trial
}

// trial is a start of an API server's program with versions to emulate.
type trial struct {
	f *Facts
	fact.Stamp
	member string
	*history.VersionTrial
}

// read is a member's answer to a read.
type read struct {
	fact.Stamp
	member string
	*history.Read
}

// puts are changes of objects in etcd that are alike. A history has a million of them, of
// which what is kept must be little.
type puts struct {
	putsKey
	first, last fact.Stamp
	times       int64
}

type putsKey struct {
	// apiVersion and kind that the stored bytes name, and the member through which the
	// harness wrote; empty where another client did.
	apiVersion, kind, writer string
	// changes is how many changes of processes of API servers had been told before.
	changes int
}

func begin(h *fact.History) *Facts {
	return &Facts{History: h, alike: map[putsKey]*puts{}, living: map[string]*migration{}}
}

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	switch {
	case ev.Process != nil && ev.Process.Component == history.ComponentAPIServer:
		f.changes++
	case ev.Stored != nil && (ev.Stored.Migration != nil || f.living[ev.Stored.Key] != nil):
		f.observeMigration(ev)
	}
	switch {
	case ev.Stored != nil && ev.Stored.Type == history.StoredPut && ev.Stored.APIVersion != "":
		f.put(fact.StampOf(ev), putsKey{ev.Stored.APIVersion, ev.Stored.ObjectKind, ev.Stored.Writer, f.changes})
	case ev.VersionTrial != nil:
		f.trials = append(f.trials, trial{f, fact.StampOf(ev), ev.Member, ev.VersionTrial})
	case ev.Read != nil:
		f.reads = append(f.reads, read{fact.StampOf(ev), ev.Member, ev.Read})
	}
}

func (f *Facts) put(at fact.Stamp, key putsKey) {
	p := f.alike[key]
	if p == nil {
		key.apiVersion, key.kind, key.writer = strings.Clone(key.apiVersion), strings.Clone(key.kind), strings.Clone(key.writer)
		p = &puts{putsKey: key, first: at}
		f.alike[key], f.puts = p, append(f.puts, p)
	}
	p.last = at
	p.times++
}

// when is the time in which the puts were made.
func (f *Facts) when(p *puts) fact.Moment {
	at := f.When(p.first)
	at.Latest = max(at.Latest, f.When(p.last).Latest)
	return at
}

// KEP is KEP-4330.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{ev01, ev02, ev03, ev04, ev06, ev07, ev08}
