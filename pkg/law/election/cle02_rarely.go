package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle02: candidates renew every 300 seconds, and when they are pinged (KEP-4355,
// "Component Lease Candidates"). Both times stand in the same object.
var cle02 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-02", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "unasked"}}},
	Parts: []law.Law[*Facts]{
		law.Written[*Facts]{Judge: judgeRenewals},
		law.Each[*Facts, renewal]{Over: (*Facts).renewals, End: renewal.followed},
	},
}

func judgeRenewals(f *Facts, l *law.Ledger, b law.Bounds) {
	for _, k := range candidates((*Candidate).ofMember)(f) {
		last := k.said[0] // answers do not count
		by, _ := k.writer(last)
		if last.asked && k.Declared().Given() {
			last = nil // it may be an answer; when it renewed without being asked is not known
		}
		for i, now := range k.said[1:] {
			if !now.renewed || !k.said[i].Answered() {
				continue
			}
			// Another process of the same candidate renews when it starts, too.
			writer, _ := k.writer(now)
			if last != nil && writer == by {
				l.Add(k.renewedAfter(last, now, b))
			}
			last, by = now, writer
		}
	}
}

// renewedAfter judges one renewal without being asked by the one before.
func (k *Candidate) renewedAfter(last, now *statement, b law.Bounds) law.Entry {
	e, since := law.Of(k.Name, k.when(now)).By(k.process().Member), now.Renewed.Sub(last.Renewed)
	if since < b.Of("renewsEvery")-b.Of("renewsEarly") {
		return e.Broken("candidate %s renewed without being asked, %s after the last time", k.Name, since.Round(time.Second)).Shown(last.Seq, now.Seq)
	}
	return e.Met()
}

// renewal is a renewal of a member's candidate by a process, or the start of one that goes on with
// the candidate, and the time until the next renewal, or until the candidate is deleted or the
// history ends.
type renewal struct {
	*Candidate
	by           *fact.Process
	began, until fact.Moment
}

func (f *Facts) renewals() (out []renewal) {
	for _, k := range candidates((*Candidate).ofMember)(f) {
		for _, s := range k.said {
			if by, _ := k.writer(s); s.renewed {
				out = append(out, renewal{k, by, k.when(s), k.renewsAfter(k.when(s))})
			}
		}
		for _, p := range k.keepers() {
			out = append(out, renewal{k, p, p.Started, k.renewsAfter(p.Started)})
		}
	}
	return out
}

// renewsAfter is when the candidate renews next after a moment, is deleted, or the history ends.
func (k *Candidate) renewsAfter(m fact.Moment) fact.Moment {
	for _, s := range k.said {
		if s.renewed && m.Before(k.when(s)) != fact.No {
			return k.when(s)
		}
	}
	if gone := k.Gone(); gone != nil {
		return *gone
	}
	return k.Over()
}

// followed judges that a candidate whose process can do so has renewed again within the
// interval. One that has not owes nothing yet; those that renewed in time are counted as they
// do.
func (r renewal) followed(b law.Bounds) law.Entry {
	e, able, bound := law.Of(r.Name, r.began).By(r.by.Member), r.able(r.by), b.Of("renewsWithin")
	e.Least = time.Duration(able.Lasts(e.Began.Latest, r.until.Earliest, fact.Yes))
	e.Most = time.Duration(able.Lasts(e.Began.Earliest, r.until.Latest, fact.Unknown))
	switch {
	case e.Least > bound:
		e = e.Late("candidate %s did not renew for %s", r.Name, e.Least.Round(time.Second)).Shown(r.began.Seq, r.until.Seq)
		return law.UnlessStarved(r.History, e, e.Least-bound, able, e.Began.Latest, r.until.Earliest)
	case e.Most > bound:
		return e.Unclear("candidate %s may not have renewed for %s", r.Name, e.Most.Round(time.Second)).Shown(r.began.Seq, r.until.Seq)
	}
	return law.Entry{}
}
