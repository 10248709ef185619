package election

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// releaseSetting is the setting of a topology by which leaders release their Lease on exit.
const releaseSetting = "leaderElectReleaseOnExit"

// cle33: a leading controller manager that is told to end, and is to release its Lease on exit,
// has given the Lease up when its process has ended: else the next one waits until it has expired
// (KEP-5366, Goals). A release that fails once, on a conflict with a renewal under way, has to be
// tried again (kubernetes/kubernetes#131867). It does not see what a leader does after that, which
// CLE-10 judges, nor kube-scheduler, which has no such setting.
var cle33 = law.Each[*Facts, *Tenure]{
	Row: law.Row{ID: "CLE-33", Sources: []fact.Source{fact.Etcd, fact.Readyz}, Needs: []law.Need{{Name: "released"}}},
	Over: func(f *Facts) []*Tenure {
		if f.Header.Setting(releaseSetting) != "on" {
			return nil
		}
		return tenures(func(l *Lease) bool { return l.component() == history.ComponentControllerManager })(f)
	},
	End: (*Tenure).releasedOnExit,
}

// releasedOnExit judges the leader of a tenure, if the harness told it to end while it had the Lease.
func (t *Tenure) releasedOnExit(b law.Bounds) law.Entry {
	p, over := t.LastProcess(t.Member, t.component(), t.Last.At), b.Over()
	if p == nil || p.Stopping == nil || !t.Shown() {
		return law.Entry{}
	}
	e, end := law.Of(t.Key+" of "+t.Holder, *p.Stopping).By(t.Member), cmp.Or(p.Exited, &over)
	byThen := func(c *Change) bool { return c != nil && end.Before(c.When()) != fact.Yes }
	held, free := t.held().During(*p.Stopping), fact.And(t.Healthy(t.Member), t.writable(), fact.Not(t.faulty()))
	switch from, to := p.Stopping.Latest, end.Earliest; {
	case byThen(t.mark()):
		return law.Entry{} // it was to let the Lease expire
	case byThen(t.Lost) && t.Lost.Released() && held != fact.No && p.Stopping.Before(t.Lost.madeAt()) == fact.Yes:
		return e.Met() // by the time that the Lease says, whenever the recorder tells of it
	case byThen(t.Lost):
		return law.Entry{} // it was taken or deleted first
	case p.Exited == nil:
		e = e.Open("the history ended before its process had")
	case free.Lasts(from, to, fact.Yes) < to-from:
		e = e.Excused("something kept it from writing the Lease while it ended")
	default:
		e = e.Broken("%s was told to end while it had %s, and ended (%s) without giving it up", t.Holder, t.Key, p.HowEnded()).
			Shown(p.Stopping.Seq, t.Last.Seq, p.Exited.Seq)
	}
	return e.Owed(held)
}
