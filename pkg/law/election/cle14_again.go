package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle14: a coordinator that loses its Lease stops without ending its API server, and can
// win again (KEP-4355, "Coordinated Election Controller": it must not exit).
var cle14 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-14", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "lived", Tag: "lived"}, {Name: "again", Tag: "again"},
	}},
	Judge: judgeDeposed,
}

func judgeDeposed(f *Facts, l *law.Ledger, b law.Bounds) {
	for _, lease := range f.coordinatorsLease() {
		for _, c := range lease.changes {
			if !c.Taken() || !byForce(c.Now.Holder) {
				continue
			}
			lost := c.When()
			p := f.ProcessAt(f.MemberOf(holder(c.Before)), history.ComponentAPIServer, lost)
			if p == nil || p.Lived(lost) != fact.Yes {
				continue
			}
			judgeLife(p, lost, l, b)
			for _, t := range lease.tenures() {
				if t.Taken.Revision > c.Revision && f.MemberOf(t.Holder) == p.Member && p.Lived(t.Taken.When()) == fact.Yes {
					l.MetBy(p.Member, p.Member, t.Taken.When(), "again")
					break
				}
			}
		}
	}
}

// judgeLife judges that a process lives on after a moment for as long as it may take to
// notice its loss.
func judgeLife(p *fact.Process, lost fact.Moment, l *law.Ledger, b law.Bounds) {
	end := b.Over()
	if p.Exited != nil {
		end = *p.Exited
	}
	least, most := lost.Until(end)
	switch {
	case least > noticesWithin():
		l.MetBy(p.Member, p.Member, lost, "lived")
	case p.EndedItself() && most <= noticesWithin()+time.Duration(end.Latest-end.Earliest):
		l.Broken(p.Member, lost, law.Evidence(lost.Seq, end.Seq), "the API server of %s ended (%s), %s after its coordinator had lost its Lease", p.Member, p.Exit, took(most))
	case p.Exited != nil && p.Expected:
		l.Excused(p.Member, lost, "the harness ended the server")
	case p.Exited != nil:
		l.Unclear(p.Member, lost, "whether the server ended because of its loss is not certain")
	default:
		l.Open(p.Member, lost, "the history ended %s after the loss", took(most))
	}
}
