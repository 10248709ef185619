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
// elections in pkg/law/election, and which migrations may start (EV-07) with the migrations
// in pkg/law/migration.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package emulation

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Facts are the facts of one history that the laws of emulated versions are about.
type Facts struct {
	*fact.History
	puts []put
}

// put is a change of an object in etcd.
type put struct {
	fact.Stamp
	// apiVersion and kind that the stored bytes name, and the member through which the
	// harness wrote it; empty where another client did.
	apiVersion, kind, writer string
}

func begin(h *fact.History) *Facts { return &Facts{History: h} }

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	if s := ev.Stored; s != nil && s.Type == history.StoredPut && s.APIVersion != "" {
		f.puts = append(f.puts, put{fact.StampOf(ev), s.APIVersion, s.ObjectKind, s.Writer})
	}
}

// KEP is KEP-4330.
func KEP() law.KEP { return law.New(begin, laws) }

var laws = []law.Law[*Facts]{ev01, ev06}
