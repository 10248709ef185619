package storageversion

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// missed is whether an answer tells of an object that is not there or not as it was, so
// that the server had looked.
func (r *request) missed() bool { return r.code == 404 || r.code == 409 || r.code == 410 }

// odd is whether it is a refusal that nothing excuses before a registration.
func (r *request) odd() bool {
	return !r.accepted() && !r.missed() && !r.slow() && r.code != 503
}

// at is a resource as one member has it.
type at struct{ member, object string }

// evasion are answers of one member to writes of one resource that came in the place of
// the barrier's 503, and may have an excuse.
type evasion struct {
	// count is of all of them, slow of those that were not answered, or shed, and refused
	// of the writes that the member refused as it must.
	count, slow, refused int
	first                *request
}

type evasions map[at]*evasion

// evade looks at refusals that may have an excuse. A server that sheds load or is slow to
// answer may do so beside the barrier, but not in its place: where it held back other
// resources while it booted, and this one never, the barrier of this one was not seen.
func (b barrier) evade(all evasions) {
	key := at{b.s.Member, b.name}
	if all[key] == nil {
		all[key] = &evasion{}
	}
	of := all[key]
	refused, _ := b.refused()
	var mild, missed *request
	for _, r := range b.requests {
		switch {
		case r.refusedBooting(b.s):
			of.refused++
		case r.barrier || r.accepted():
		case r.missed() && missed == nil:
			missed = r
		case !r.missed() && !r.odd() && mild == nil:
			mild = r
		}
	}
	instead := func(r *request) bool {
		return r != nil && !refused && (!b.s.readyBy(r.At) && b.barred || b.at != nil && b.early(r))
	}
	for _, r := range []*request{mild, missed} {
		if instead(r) || r == missed && r != nil && r.At <= b.refusedUntil {
			of.note(r)
		}
	}
}

func (e *evasion) note(r *request) {
	if e.count == 0 {
		e.first = r
	}
	e.count++
	if r.slow() {
		e.slow++
	}
}

// judge leaves open what a slow machine does not explain: it lets a few writes time out
// among many that are refused, to the same resource by the same member.
func (all evasions) judge(f *facts, l *law.Ledger, answersForSlow float64) {
	keys := slices.SortedFunc(maps.Keys(all), func(a, b at) int {
		return cmp.Or(cmp.Compare(a.member, b.member), cmp.Compare(a.object, b.object))
	})
	for _, key := range keys {
		e := all[key]
		switch {
		case e.count == 0:
		case e.count == e.slow && float64(e.slow)*answersForSlow <= float64(e.refused):
			l.Excused(key.object, f.When(e.first.Stamp), "a few writes were not answered in time, among many that were refused")
		default:
			answer := fmt.Sprintf("with %d", e.first.code)
			if e.first.code == 0 {
				answer = "with nothing"
			}
			l.Unclear(key.object, f.When(e.first.Stamp), "%s answered a %s in %s %s instead of 503 before it had registered, %d times", key.member, e.first.verb, key.object, answer, e.count)
		}
	}
}
