package law

import "github.com/evenkeel/evenkeel/pkg/fact"

// Each is a law of which each subject is one obligation, which ends by what is known of it
// alone.
type Each[F, S any] struct {
	Row
	// Over are the subjects.
	Over func(F) []S
	// End ends the obligation of a subject; one without an ending was never owed.
	End func(S, Bounds) Entry
}

func (e Each[F, S]) judge(facts F, bounds Bounds) *Ledger {
	l := &Ledger{}
	for _, s := range e.Over(facts) {
		l.Add(e.End(s, bounds))
	}
	return l
}

// Member is a member of the control plane as the subject of a law over the facts F.
type Member[F any] struct {
	Facts F
	Name  string
}

// Members are all members, for the Over of a law.
func Members[F interface{ Members() []string }](f F) []Member[F] {
	return fact.Each(f.Members(), func(name string) Member[F] { return Member[F]{f, name} })
}

// Entry is the obligation of a member.
func (m Member[F]) Entry() Entry { return Entry{About: m.Name, Member: m.Name} }

// entryOf is the obligation of a subject: by the law's function, or by the subject's own
// method where the law has none.
func entryOf[S any](describe func(S) Entry, s S) Entry {
	if describe != nil {
		return describe(s)
	}
	if own, ok := any(s).(interface{ Entry() Entry }); ok {
		return own.Entry()
	}
	return Entry{}
}
