package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv12: before it has registered, a server refuses guarded writes with 503 (KEP-2339,
// updating StorageVersion), and stores none of what it refused. An accepted write must have
// a higher revision than the entry by which this process announced the resource, and must
// not come before a refusal. A restart that announces nothing new writes no entry; only the
// order of its answers can be judged.
var sv12 = law.Together[*facts]{
	Row: law.Row{ID: "SV-12", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "refused", Tag: "refused"}, {Name: "refusedEach", Tag: "refused", Each: true},
		{Name: "registered", Tag: "registered"}, {Name: "registeredEach", Tag: "registered", Each: true},
	}},
	Parts: []law.Law[*facts]{tagsKnown, sv12Stored, sv12Asked, law.Each[*facts, answer]{Over: (*facts).answers, End: answer.end}},
}

// sv12Stored: what the barrier refused is not stored.
var sv12Stored = law.Each[*facts, *fact.Write]{Over: func(f *facts) []*fact.Write { return f.Writes() }, End: func(w *fact.Write, _ law.Bounds) law.Entry {
	if !w.Guarded || !w.Barrier || !w.InEtcd() {
		return law.Entry{}
	}
	return law.Of(w.Target.StorageVersionName(), fact.Exactly(w.Stored.At, w.Stored.Seq)).By(w.Member).Alone().Shown(w.Answer.Seq, w.Stored.Seq).
		Broken("%s refused write %d because its registration was not complete, and stored it all the same, at revision %d", w.Member, w.Number, w.Stored.Revision)
}}

// sv12Asked: nothing is known of the barrier of a resource that was not written to while a
// process booted which announced it.
var sv12Asked = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	for _, s := range f.servers().all {
		for _, x := range f.Header.Writes {
			name := fact.Resource{Group: x.Group, Resource: x.Resource}.StorageVersionName()
			booting := fact.Where(s.guarded[name], func(r *request) bool { return !s.readyBy(r.At) })
			if change := s.registration(name); change != nil && s.ready != nil && len(booting) == 0 {
				l.Unclear(name, f.When(change.Stamp), "nothing was written to %s while process %d of %s booted, which announced a version of it", name, s.Instance, s.Member)
			}
		}
	}
}}

// answer is what a process answered to a write, and what its barrier did with others to the
// same resource.
type answer struct {
	*request
	// announced is the change by which the process announced what it writes, nil where it
	// found nothing to change, and at when that came about.
	announced *fact.EntryChange
	at        fact.Moment
	// refused is whether the barrier was seen shut, and until when.
	refused bool
	until   int64
}

func (f *facts) answers() []answer {
	type key struct{}
	return fact.Cached(f.History, key{}, func() (out []answer) {
		for _, s := range f.servers().all {
			for _, name := range law.SortedKeys(s.guarded) {
				of := answer{announced: s.registration(name), until: fact.Never}
				if of.announced != nil {
					of.at = f.When(of.announced.Stamp)
				}
				for _, r := range fact.Where(s.guarded[name], (*request).booting) {
					of.refused, of.until = true, max(of.until, r.From)
				}
				for _, of.request = range s.guarded[name] {
					out = append(out, of)
				}
			}
		}
		return out
	})
}

// few is whether few of the member's answers to writes of the resource did not come in time,
// beside those that it refused as it must.
func (a answer) few(answersForSlow float64) bool {
	late, refused := 0.0, 0.0
	for _, other := range a.s.f.answers() {
		switch {
		case other.member != a.member || other.object != a.object:
		case other.booting():
			refused++
		case other.slow() && other.instead():
			late++
		}
	}
	return late*answersForSlow <= refused
}

// early is whether the answer certainly came before the registration: the barrier was seen
// to be shut later, or etcd made the entry later.
func (a answer) early() bool { return a.At <= a.until || a.announced != nil && a.At < a.at.Earliest }

// instead is whether the answer came in the place of the barrier's, which was not seen at this
// resource, and was at others or must have been shut. A server that sheds load or is slow to
// answer may do so beside the barrier, and not in its place.
func (a answer) instead() bool {
	barred := a.s.barred.End > fact.Never
	return !a.refused && (!a.s.readyBy(a.At) && barred || a.early()) || a.missed() && a.At <= a.until
}

func (a answer) end(bounds law.Bounds) law.Entry {
	e, revision := a.Entry(), a.made()
	switch {
	case a.booting():
		return e.Met("refused")
	case a.barrier, revision > 0 && revision <= a.s.since:
		return law.Entry{} // it changed nothing: the revision is of the change before
	case revision > 0:
		if placed := a.placed(a.s.f.untold(e, revision), revision); placed.Ending != "" {
			return placed
		}
	}
	if early := a.ordered(e, revision); early.Ending != "" {
		return early
	}
	switch {
	case a.accepted() && revision == 0 && a.write == 0 && a.tells():
		return e.Unclear("the answer to an accepted %s does not tell what it made in etcd", a.verb)
	case a.accepted():
		return e.Met(tagIf(revision > 0 && a.refused && a.announced != nil, "registered")...)
	case a.odd() || !a.instead():
		return law.Entry{}
	case a.slow() && a.few(bounds.Number("answersForSlow")):
		return e.Excused("a few writes were not answered in time, among many that were refused")
	case a.code == 0:
		return e.Unclear("%s answered a %s in %s with nothing instead of 503 before it had registered", a.s.Member, a.verb, a.object)
	}
	return e.Unclear("%s answered a %s in %s with %d instead of 503 before it had registered", a.s.Member, a.verb, a.object, a.code)
}

// ordered ends the obligation of an answer that came before the registration.
func (a answer) ordered(e law.Entry, revision int64) law.Entry {
	why := "before it announced its version in " + a.object
	if a.At <= a.until {
		why += ", and refused a later write because its registration was not complete"
	}
	switch {
	case a.early() && a.odd():
		return e.Broken("%s refused a write with %d instead of 503, %s", a.s.Member, a.code, why)
	case a.early() && a.accepted() && (revision == 0 || a.At <= a.until):
		return e.Broken("%s accepted a %s %s", a.s.Member, a.verb, why)
	}
	return e
}

// placed ends the obligation of a write by the revision that it made: the server had an entry
// by then, and had announced what it announces.
func (a answer) placed(e law.Entry, revision int64) law.Entry {
	left := a.s.f.StorageVersion(a.object).Entry(a.s.id).At(a.s.since)
	held := a.s.held(a.object, revision, anyEntry)
	switch {
	case e.Ending != "":
		return e
	case a.s.silent():
		return e.Excused("the server has no StorageVersion API")
	case !held && a.s.hosts(a.object) == fact.No:
		return e.Excused("the server does not host the resource, and hands writes on")
	case !held && left != nil:
		return e.Broken("%s accepted a write at revision %d although it had not joined, and %s had no entry of it but what the process before had left",
			a.s.Member, revision, a.object).Shown(left.Seq, a.Seq)
	case !held:
		return e.Broken("%s accepted a write at revision %d although %s had no entry of %s", a.s.Member, revision, a.object, a.s.id)
	case a.announced != nil && revision < a.announced.Revision:
		return e.Broken("%s accepted a write at revision %d, before it announced %s in %s at revision %d",
			a.s.Member, revision, a.announced.Is.Encoding, a.object, a.announced.Revision).Shown(a.Seq, a.announced.Seq)
	}
	return e
}
