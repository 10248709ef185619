package discovery

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad13: a custom resource that is created, changed or deleted shows on every server within
// a bound, and leaves no ghost (KEP-3352, risks: "caching"). Groups that aggregated servers
// have a part in are AD-19's.
var ad13 = showLaw(law.Row{ID: "AD-13", Sources: readiness, Needs: each("created", "changed", "deleted")},
	func(d *definition) bool { return !d.remote && !d.of.shared(d.group) },
	func(k *answer, c *change) string { return c.lacks(k.listing, k.at) },
	func(o owedChange, _, _ fact.Moment) []string { return []string{o.kind()} })

// showLaw is a law by which members show each change of what the harness has defined, or a
// later one, and do not go back behind it.
func showLaw(row law.Row, of func(*definition) bool, wrong func(*answer, *change) string, tag func(o owedChange, began, done fact.Moment) []string) law.Law[*Facts] {
	return law.Deadline[*Facts, owedChange]{
		Row: row, Bound: "showsWithin",
		Over: func(f *Facts) (out []owedChange) {
			for _, d := range fact.Where(f.definitions, of) {
				// A change whose outcome is not known owes nothing; one of what was never there
				// changes nothing.
				for _, c := range fact.Where(d.changes, func(c *change) bool { return c.known && len(c.ever) > 0 }) {
					for _, m := range f.all() {
						out = append(out, owedChange{c, m, wrong})
					}
				}
			}
			return out
		},
		Begin:   law.Once(func(o owedChange) fact.Moment { return o.moment() }),
		Running: func(o owedChange) fact.Signal { return o.member.able() },
		Looks:   func(o owedChange) []law.Look { return o.member.shown(o.at, o.shows) },
		Breach:  owedChange.breach,
		Breaks: func(o owedChange) (string, []int64) {
			k := o.member.goesBack(o.at, o.over(), showsWithin(), o.shows)
			if k == nil {
				return "", nil
			}
			return o.says(lasted(o.at, k.from), o.lacks(k)), []int64{o.seq, k.seq}
		},
		Tag: tag,
	}
}

// owedChange is a change of a definition that a member has to show.
type owedChange struct {
	*change
	member *member
	// wrong says how a document differs from what a change wants; empty if it does not.
	wrong func(*answer, *change) string
}

// Entry is the obligation.
func (o owedChange) Entry() law.Entry { return law.Of(o.of.String(), o.moment()).By(o.member.name) }

func (o owedChange) shows(k *answer) bool { return k.told() != nil && o.lacks(k) == "" }

// lacks says how a document shows neither the change nor any that may have been made since,
// in words of the last one; empty if it shows one.
func (o owedChange) lacks(k *answer) (wrong string) {
	for c := o.change; c != nil && (wrong == "" || c.from <= k.at); c = c.next() {
		if wrong = o.wrong(k, c); wrong == "" {
			return ""
		}
	}
	return wrong
}

// breach says what the last look before the change was shown had in its place.
func (o owedChange) breach(_ fact.Moment, _ *fact.Moment, took time.Duration) string {
	wrong := "gave no document that shows it"
	for _, k := range o.member.since(o.at) {
		switch {
		case k.told() == nil:
			wrong = "gave no document that shows it: it " + k.says()
		case o.shows(k):
			return o.says(took.Round(100*time.Millisecond), wrong)
		default:
			wrong = o.lacks(k)
		}
	}
	return o.says(took.Round(100*time.Millisecond), wrong)
}

func (o owedChange) says(took time.Duration, wrong string) string {
	return fmt.Sprintf("%s after a change of %s, %s %s", took, o.of, o.member.name, wrong)
}

// kind is the tag of a change of a definition.
func (c *change) kind() string {
	switch {
	case len(c.versions) == 0:
		return "deleted"
	case len(c.before) == 0:
		return "created"
	}
	return "changed"
}
