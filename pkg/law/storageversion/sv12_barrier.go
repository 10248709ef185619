package storageversion

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv12: before it has registered, a server refuses guarded writes with 503 (KEP-2339,
// updating StorageVersion), and stores none of what it refused. An accepted write must have
// a higher revision than the entry by which this process announced the resource, and must
// not come before a refusal. A restart that announces nothing new writes no entry; only the
// order of its answers can be judged.
var sv12 = law.Written[*facts]{
	Row: law.Row{ID: "SV-12", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "refused", Tag: "refused"}, {Name: "refusedEach", Tag: "refused", Each: true},
		{Name: "registered", Tag: "registered"}, {Name: "registeredEach", Tag: "registered", Each: true},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtTags(l)
		for _, w := range f.Writes() {
			if w.Guarded && w.Barrier && w.InEtcd() {
				l.Add(law.Entry{Ending: law.Broken, About: w.Target.StorageVersionName(), Member: w.Member, Began: f.When(w.Stored), SelfEvident: true,
					Evidence: law.Evidence(w.Answer.Seq, w.Stored.Seq),
					Why:      fmt.Sprintf("%s refused write %d because its registration was not complete, and stored it all the same, at revision %d", w.Member, w.Number, w.Stored.Revision)})
			}
		}
		evaded := evasions{}
		for _, s := range f.allServers() {
			f.judgeBoot(l, s, evaded)
		}
		evaded.judge(f, l, bounds.Number("answersForSlow"))
	},
}

// judgeBoot judges what one process answered to writes.
func (f *facts) judgeBoot(l *law.Ledger, s *server, evaded evasions) {
	answers := f.derive().answers[s]
	barred, _ := f.barrierUntil(s)
	for _, name := range law.SortedKeys(answers) {
		b := barrier{facts: f, s: s, name: name, requests: answers[name], barred: barred < fact.Forever}
		if change := f.registration(s, name, s.until); change != nil {
			at := f.When(change.Stamp)
			b.announced, b.at = change, &at
		}
		_, b.refusedUntil = b.refused()
		b.judge(l)
		b.evade(evaded)
	}
	for _, x := range f.Header.Writes {
		name := fact.Resource{Group: x.Group, Resource: x.Resource}.StorageVersionName()
		if change := f.registration(s, name, s.until); change != nil && s.ready != nil && !asked(s, answers[name]) {
			l.Unclear(name, f.When(change.Stamp), "nothing was written to %s while process %d of %s booted, which announced a version of it", name, s.Instance, s.Member)
		}
	}
}

// asked is whether a resource was written to before a process was ready.
func asked(s *server, requests []*request) bool {
	for _, r := range requests {
		if !s.readyBy(r.At) {
			return true
		}
	}
	return false
}

// barrier is what one process did with writes to one resource.
type barrier struct {
	*facts
	s        *server
	name     string
	requests []*request
	// announced is the change by which it announced what it writes, and at when that came
	// about; nil where it found nothing to change.
	announced *fact.EntryChange
	at        *fact.Moment
	// barred is whether the barrier was seen at any resource; refusedUntil is when the last
	// write to this one was sent that was refused.
	barred       bool
	refusedUntil int64
}

func (b barrier) refused() (seen bool, until int64) {
	until = fact.Never
	for _, r := range b.requests {
		if r.refusedBooting(b.s) {
			seen, until = true, max(until, r.From)
		}
	}
	return seen, until
}

// made is the revision that a write made, as its answer or etcd tells; 0 if neither does.
func (b barrier) made(r *request) int64 {
	if w := b.Write(r.member, r.write); w != nil && w.InEtcd() {
		return w.Stored.Revision
	}
	if r.accepted() && r.tells() {
		return r.named
	}
	return 0
}

// early is whether an answer certainly came before the registration: the barrier was seen
// to be shut later, or etcd made the entry later.
func (b barrier) early(r *request) bool {
	return r.At <= b.refusedUntil || b.at != nil && r.At < b.at.Earliest
}

func (b barrier) judge(l *law.Ledger) {
	refused, _ := b.refused()
	blamed := false
	for _, r := range b.requests {
		e := law.Entry{Ending: law.Met, About: b.name, Member: b.s.Member, Began: b.When(r.Stamp), Evidence: []int64{r.Seq}}
		revision := b.made(r)
		switch {
		case r.barrier:
			if r.refusedBooting(b.s) {
				e.Tags = refusedTag
			}
		case revision > 0 && revision <= b.s.since:
			continue // it changed nothing: the revision is of the change before
		case revision > 0:
			if !b.told(l, b.name, e.Began, revision) {
				continue
			}
			b.place(&e, revision)
		case r.accepted() && r.write == 0 && r.tells():
			e.Ending, e.Why = law.Unclear, "the answer to an accepted "+r.verb+" does not tell what it made in etcd"
		}
		if e.Ending != law.Broken && !r.barrier && b.early(r) {
			b.order(&e, r)
		}
		if e.Ending == law.Broken {
			if blamed {
				continue // the same breach of the same process
			}
			blamed = true
		}
		if e.Ending == law.Met && r.accepted() && revision > 0 && refused && b.announced != nil {
			e.Tags = registeredTag
		}
		if e.Ending != law.Met || len(e.Tags) > 0 || r.accepted() {
			l.Add(e)
		}
	}
}

var refusedTag, registeredTag = []string{"refused"}, []string{"registered"}

// place judges a write by the revision that it made.
func (b barrier) place(e *law.Entry, revision int64) {
	id, v := b.s.id, b.StorageVersion(b.name)
	switch {
	case b.s.silent():
		e.Ending, e.Why = law.Excused, "the server has no StorageVersion API"
	case !b.heldDuring(b.s, b.name, revision, anyEntry) && b.s.hosts(b.name) == fact.No:
		e.Ending, e.Why = law.Excused, "the server does not host the resource, and hands writes on"
	case !b.heldDuring(b.s, b.name, revision, anyEntry):
		e.Ending = law.Broken
		if left := v.ChangeAt(id, b.s.since); left != nil && left.Present() {
			e.Evidence = law.Evidence(left.Seq, e.Evidence[0])
			e.Why = fmt.Sprintf("%s accepted a write at revision %d although it had not joined, and %s had no entry of it but what the process before had left", b.s.Member, revision, b.name)
			return
		}
		e.Why = fmt.Sprintf("%s accepted a write at revision %d although %s had no entry of %s", b.s.Member, revision, b.name, id)
	case b.announced != nil && revision < b.announced.Revision:
		e.Ending, e.Evidence = law.Broken, law.Evidence(e.Evidence[0], b.announced.Seq)
		e.Why = fmt.Sprintf("%s accepted a write at revision %d, before it announced %s in %s at revision %d", b.s.Member, revision, b.announced.Entry.Encoding, b.name, b.announced.Revision)
	}
}

// order judges an answer that certainly came before the registration.
func (b barrier) order(e *law.Entry, r *request) {
	switch later := r.At <= b.refusedUntil; {
	case r.accepted() && later:
		e.Ending, e.Why = law.Broken, fmt.Sprintf("%s accepted a %s in %s, and refused a later write because its registration was not complete", b.s.Member, r.verb, b.name)
	case r.accepted() && b.made(r) == 0:
		e.Ending, e.Why = law.Broken, fmt.Sprintf("%s accepted a %s before it announced its version in %s", b.s.Member, r.verb, b.name)
	case r.odd():
		e.Ending, e.Why = law.Broken, fmt.Sprintf("%s refused a write with %d instead of 503, before it announced its version in %s", b.s.Member, r.code, b.name)
	default:
		return
	}
	if b.announced != nil {
		e.Evidence = law.Evidence(r.Seq, b.announced.Seq)
	}
}
