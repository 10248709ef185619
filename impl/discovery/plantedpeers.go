package discovery

import (
	"context"
	"maps"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// Plant plants the defects of peers; it is called before anything else is done.
func (p *Peers) Plant(d defects.Set) {
	p.hooks = peerHooks{
		forgets: func() bool { return !d.Has(defects.AD24KeepsPeers) && !d.Has(defects.AD24LeavesLate) }, // defect: AD-24-keeps-peers
		left: func() {
			if d.Has(defects.AD24LeavesLate) {
				p.leaveLate(d) // defect: AD-24-leaves-late
			}
		},
		learns: func(ctx context.Context) { p.learnLate(ctx, d) },
	}
}

// learnLate lets some time pass before what a peer said counts.
func (p *Peers) learnLate(ctx context.Context, d defects.Set) {
	if delay := d.Delay(defects.AD23ShowsLate); delay > 0 {
		select {
		case <-p.rhythm.clock.After(delay): // defect: AD-23-shows-late
		case <-ctx.Done():
		}
	}
}

// leaveLate forgets what those hosted that have left some time later.
func (p *Peers) leaveLate(d defects.Set) {
	over := p.rhythm.clock.After(d.Delay(defects.AD24LeavesLate))
	go func() {
		<-over
		p.mu.Lock()
		defer p.mu.Unlock()
		maps.DeleteFunc(p.hosts, func(id string, _ []apidiscoveryv2.APIGroupDiscovery) bool {
			_, stays := p.present[id]
			return !stays
		})
		p.announceLocked()
	}()
}
