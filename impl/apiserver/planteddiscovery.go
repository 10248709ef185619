package apiserver

import (
	"context"
	"net/http"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/discovery"
)

// plantedDiscovery is what planted defects do at a server's discovery. Without defects it does
// nothing.
type plantedDiscovery struct {
	remotes *discovery.Remotes
	defects defects.Set
	hold    *discovery.Hold
}

func plantDiscovery(remotes *discovery.Remotes, d defects.Set) plantedDiscovery {
	hold := &discovery.Hold{}
	if d.Has(defects.AD22HoldsDocuments) {
		remotes.Failed = func() { hold.For(d.Delay(defects.AD22HoldsDocuments)) } // defect: AD-22-holds-documents
	}
	return plantedDiscovery{remotes, d, hold}
}

// handler changes what clients are answered.
func (p plantedDiscovery) handler(soundly http.Handler) http.Handler {
	return discovery.PlantHandler(soundly, p.defects, p.hold)
}

// readiness changes when discovery counts as ready.
func (p plantedDiscovery) readiness(soundly func(*http.Request) error) func(*http.Request) error {
	if p.defects.Has(defects.AD15ReadyEarly) {
		return func(*http.Request) error { return nil } // defect: AD-15-ready-early
	}
	return soundly
}

// listed comes when all group-versions of the server itself are listed.
func (p plantedDiscovery) listed(ctx context.Context) {
	if p.defects.Has(defects.AD16WaitsForRemotes) {
		p.remotes.WaitFetched(ctx, p.defects.Delay(defects.AD16WaitsForRemotes)) // defect: AD-16-waits-for-remotes
	}
	p.hold.For(p.defects.Delay(defects.AD15GivesLate)) // defect: AD-15-gives-late
}
