package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv25: a server at which the StorageVersion API is switched off publishes nothing, and still
// takes part and stores objects. So a version may be called agreed only if no server stores
// another one, whichever have reported; and when the API is switched on again the server
// reports as before, and the agreement is formed anew.
var sv25 = law.Written[*facts]{
	Row: law.Row{ID: "SV-25", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{
		{Name: "skewed", Tag: "skewed"}, {Name: "returned", Tag: "returned"}, {Name: "formed", Tag: "formed"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtTags(l)
		g := gates{f: f, l: l, bounds: bounds, since: map[string]int64{}, skewed: map[string]int64{}}
		for _, s := range f.allServers() {
			if g.since[s.Member] == 0 && s.silent() {
				g.since[s.Member] = s.Started.Seq
			}
		}
		if len(g.since) == 0 {
			return // no server has been without the API
		}
		for _, w := range f.Writes() {
			g.write(w)
		}
		for _, v := range f.StorageVersions() {
			g.follow(v)
		}
		for _, hold := range f.Holds {
			if hold.Ended != nil {
				g.look(hold)
			}
		}
	},
}

// gates is what became of servers that were without the API.
type gates struct {
	f      *facts
	l      *law.Ledger
	bounds law.Bounds
	// since is by which event each member's server was without the API first, and skewed by
	// which revision one stored a resource otherwise than the others had announced.
	since  map[string]int64
	skewed map[string]int64
}

func (g *gates) write(w *fact.Write) {
	f := g.f
	r, ok := f.ResourceOfWrite(w)
	if !ok || f.Hosted(r) == fact.HostedOtherwise || !g.begun(w.Stored.Seq) {
		return
	}
	name := r.StorageVersionName()
	v := f.StorageVersion(name).At(w.Stored.Revision)
	if v == nil {
		return
	}
	s := f.serverOf(w.Member, w.Stored.Revision)
	e := law.Entry{Ending: law.Met, About: name, Member: w.Member, Began: f.When(w.Stored)}
	switch common := v.Content.Common; {
	case f.harness.repairing(name, e.Began.Latest, g.bounds.Of("tamperRepaired")):
		e.Ending, e.Why = law.Excused, "the harness changed the object shortly before"
	case common == nil || *common == w.APIVersion:
	case f.finishes(w, name, g.bounds.Of("finishesWithin")):
		e.Ending, e.Why = law.Excused, "the server had left, and finished what it had been asked for"
	default:
		state := ""
		if s.silent() {
			state = ", without the StorageVersion API"
		}
		e.Ending, e.Evidence = law.Broken, law.Evidence(v.Seq, w.Stored.Seq)
		e.Why = sprintf("%s called %s agreed when %s stored %s as %s at revision %d%s", name, *common, w.Member, w.Name, w.APIVersion, w.Stored.Revision, state)
	}
	others := slices.DeleteFunc(slices.Clone(v.Content.Entries), func(e history.Entry) bool { return e.ServerID == f.serverID(w.Member) })
	if announced, equal := fact.Agreed(others); s.silent() && equal && announced != w.APIVersion {
		if e.Ending == law.Met {
			e.Tags = []string{"skewed"}
		}
		if g.skewed[name] == 0 {
			g.skewed[name] = w.Stored.Revision
		}
	}
	g.l.Add(e)
}

// begun is whether any server had been without the API by an event.
func (g *gates) begun(seq int64) bool {
	for _, since := range g.since {
		if since < seq {
			return true
		}
	}
	return false
}

// follow notes that a version is called agreed again, by all that have been without the API.
func (g *gates) follow(v *fact.StorageVersion) {
	var before *string
	for _, r := range v.Revisions {
		var now *string
		if r.Content != nil {
			now = r.Content.Common
		}
		if skewed := g.skewed[v.Name]; now != nil && before == nil && skewed > 0 && r.Revision > skewed && g.restored(r) {
			g.l.Met(v.Name, g.f.When(r.Stamp), "formed")
		}
		before = now
	}
}

// restored is whether all that have been without the API by a revision have reported again.
func (g *gates) restored(r fact.VersionRevision) bool {
	for member, since := range g.since {
		if since < r.Seq && (g.f.serverOf(member, r.Revision).silent() || fact.EntryIn(r.Content.Entries, g.f.serverID(member)) == nil) {
			return false
		}
	}
	return true
}

// look compares, at the end of a hold, what servers that have the API again have reported of
// the resources that they reported before or that it was about.
func (g *gates) look(hold *fact.Hold) {
	f, end := g.f, hold.Ended.Latest
	for _, member := range f.Members() {
		s := f.upAt(member, end)
		if since := g.since[member]; since == 0 || since > hold.Ended.Seq || s == nil || s.silent() {
			continue
		}
		for _, v := range f.StorageVersions() {
			skewed := g.skewed[v.Name] > 0 && g.skewed[v.Name] <= hold.EndedRevision
			if !s.lookBy(end).Hosts(v.Name) || !skewed && v.ChangeAt(s.id, hold.EndedRevision) == nil {
				continue
			}
			switch {
			case f.harness.repairing(v.Name, end, g.bounds.Of("tamperRepaired")):
				g.l.Excused(v.Name, *hold.Ended, "the harness changed the object shortly before")
			case v.EntryAt(s.id, hold.EndedRevision) == nil:
				g.l.Broken(v.Name, *hold.Ended, law.Evidence(s.Started.Seq, hold.Ended.Seq), "%s has the StorageVersion API again, and no entry in %s at revision %d", member, v.Name, hold.EndedRevision)
			case skewed:
				g.l.MetBy(member, v.Name, *hold.Ended, "returned")
			default:
				g.l.MetBy(member, v.Name, *hold.Ended)
			}
		}
	}
}
