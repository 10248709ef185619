package conformance

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// conclude says what came of a run that has ended, or that a killed campaign has left:
// then played is nil. The third value is false where the run has to be played again as if
// it had never been: it was interrupted, and shows no breach.
func (c *campaign) conclude(ctx context.Context, s Started, played *Played) (Ended, *outcome, bool) {
	e := Ended{Line: s.Line, Try: s.Try, Bundle: s.Bundle}
	dir := filepath.Join(c.dir, s.Bundle)
	wasSealed := sealed(dir)
	if !wasSealed {
		if err := salvage(ctx, dir); err != nil {
			e.Failed = oneLine(err.Error())
			return e, nil, true
		}
	}
	if !sealed(dir) {
		e.Bundle = ""
		switch {
		case played == nil || ctx.Err() != nil:
			return e, nil, false
		case strings.Contains(played.Said, cluster.ErrUnsupported.Error()):
			e.Refused = played.Said
		default:
			e.Failed = fmt.Sprintf("it left no bundle, with status %d: %s", played.Status, played.Said)
		}
		return e, nil, true
	}
	o, err := readOutcome(dir)
	if err != nil {
		e.Failed = oneLine(err.Error())
		return e, nil, true
	}
	if why := o.misfits(c.plan, c.plan.Lines[s.Line-1]); why != "" {
		e.Failed = why
		return e, nil, true
	}
	if o.interrupted() {
		return e, nil, false
	}
	// A status that does not tell the verdict tells of something else that keeps the run
	// from counting, such as a credential in its bundle. A breach counts all the same.
	if wasSealed && played != nil && o.verdict != check.Fail && played.Status != statusOf(o.verdict) {
		e.Failed = fmt.Sprintf("its verdict is %s, and it ended with the status %d: %s", o.verdict, played.Status, played.Said)
		return e, nil, true
	}
	e.Digest = o.evidence
	return e, o, true
}
