package discovery

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// showing judges that members show a definition: each change of it within the bound, or a
// later one, and that none goes back behind a change that it had to show.
type showing struct {
	of    *definition
	bound time.Duration
	// wrong says how a document, as part of a look, differs from what a change wants; empty
	// if it does not.
	wrong func(k *look, c *change) string
	// breach says what a member does wrong, for how long.
	breach func(m *member, c *change, wrong string, took time.Duration) string
	// tags of a change that a look shows.
	tags func(k *look, c *change) []string
}

func (s showing) judge(f *Facts, l *law.Ledger) {
	for _, m := range f.all() {
		late := false
		for _, c := range s.of.changes {
			// A change whose outcome is not known owes nothing; one of what was never there
			// changes nothing.
			if !c.known || len(c.ever) == 0 {
				continue
			}
			if late {
				l.Add(law.Entry{Ending: law.Superseded, About: s.of.String(), Member: m.name, Began: c.moment(), Why: "an earlier change was never shown"})
				continue
			}
			e, shown := s.owed(m, c).end(f.Over())
			if e.Ending == law.Met {
				e.Tags = s.tagged(m, c, shown)
			}
			l.Add(e)
			if shown != nil {
				s.stays(l, m, c)
			}
			late = e.Ending == law.Late && shown == nil
		}
	}
}

func (s showing) owed(m *member, c *change) *owed {
	wrong := ""
	return &owed{
		Entry: law.Entry{About: s.of.String(), Member: m.name, Began: c.moment()}, member: m, bound: s.bound, over: never,
		fits: func(k *look) bool {
			if k.told() == nil {
				return false
			}
			wrong = s.lacks(k, c)
			return wrong == ""
		},
		breach: func(took time.Duration, last string) string {
			if wrong == "" {
				wrong = "gave no document that shows it"
			}
			return s.breach(m, c, wrong, took) + lately(last)
		},
	}
}

// tagged are the tags of a change by the first look from one on that gives it any.
func (s showing) tagged(m *member, c *change, shown *look) []string {
	for _, k := range m.from(shown.last) {
		if k.from > c.over() {
			break
		}
		if k.told() == nil || s.lacks(k, c) != "" {
			continue
		}
		if tags := s.tags(k, c); len(tags) > 0 {
			return tags
		}
	}
	return nil
}

// lacks says how a look shows neither a change nor any that may have been made since, in
// words of the last one; empty if it shows one.
func (s showing) lacks(k *look, c *change) (wrong string) {
	for ; c != nil && (wrong == "" || c.from <= k.at); c = c.next() {
		if wrong = s.wrong(k, c); wrong == "" {
			return ""
		}
	}
	return wrong
}

// stays looks for a document that goes back behind a change that every process had the time
// to know.
func (s showing) stays(l *law.Ledger, m *member, c *change) {
	k := m.goesBack(c.at, c.over(), s.bound, func(k *look) bool { return s.lacks(k, c) == "" })
	if k != nil {
		l.Add(law.Entry{Ending: law.Broken, About: s.of.String(), Member: m.name, Began: c.moment(), Evidence: law.Evidence(c.seq, k.lastSeq),
			Why: s.breach(m, c, s.lacks(k, c), time.Duration(k.until-c.at).Round(100*time.Millisecond))})
	}
}

// kindOfChange is the tag of a change of a definition.
func kindOfChange(c *change) string {
	switch {
	case len(c.versions) == 0:
		return "deleted"
	case len(c.before) == 0:
		return "created"
	}
	return "changed"
}

func anew(m *member, c *change, wrong string, took time.Duration) string {
	return fmt.Sprintf("%s after %s.%s was defined anew, %s %s", took, c.of.resource, c.of.group, m.name, wrong)
}
