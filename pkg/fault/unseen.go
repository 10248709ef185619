package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// unseen is whether an API server runs at the member that the provider does not see as
// a process.
func (e *Executor) unseen(member string) bool {
	process, runs := e.cluster.Process(member, cluster.APIServer)
	return runs && !process.Seen()
}

// pauseUnseen pauses a component whose process the provider does not see. The kernel cannot
// be asked there, so the witness is what the API shows: the API server answered right
// before, and does not answer now.
func (a *Active) pauseUnseen(ctx context.Context, component cluster.Component) error {
	e := a.executor
	before, err := e.answer(ctx, a.Member)
	a.Injected()
	if err := e.cluster.Pause(ctx, a.Member, component); err != nil {
		return err
	}
	a.witnessSilence(ctx, before, err)
	return ctx.Err()
}

// witnessSilence records a witness if the member's API server answered before, which
// took as long as given, and does not any more. A server that refuses connections is
// neither frozen nor cut off. It returns whether there is one.
func (a *Active) witnessSilence(ctx context.Context, before time.Duration, errBefore error) bool {
	if errBefore != nil || !a.executor.fallsSilent(ctx, a.Member) {
		return false
	}
	a.Witness(0, fmt.Sprintf("a read of %s took %s before, and had no answer within %s during the fault",
		a.Member, before.Round(shownTo), SilenceBound))
	return true
}

// fallsSilent returns whether the member's API server stops answering within EndedTimeout:
// a hook does not report when what it has begun is complete.
func (e *Executor) fallsSilent(ctx context.Context, member string) bool {
	bounded, cancel := context.WithTimeout(ctx, EndedTimeout)
	defer cancel()
	for bounded.Err() == nil {
		if e.silent(bounded, member) {
			return true
		}
		timer := e.clock.NewTimer(LookInterval)
		select {
		case <-timer.C():
		case <-bounded.Done():
		}
		timer.Stop()
	}
	return false
}
