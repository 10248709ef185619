package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/regular"
)

// folder is a campaign as it is on the disk.
type folder struct {
	dir        string
	plan       *Plan
	planDigest string
	shard      Shard
	state      *state
	// outcomes are what bundles say, by their folders below the campaign.
	outcomes map[string]*outcome
}

// openPlan reads the plan of a campaign.
func openPlan(dir string) (*folder, error) {
	raw, err := regular.ReadFile(filepath.Join(dir, PlanFile), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: name the folder of a campaign, which `evenkeel conformance run --out` made", dir, PlanFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	f := &folder{dir: dir, outcomes: map[string]*outcome{}}
	f.plan, f.planDigest, err = parsePlan(raw)
	return f, err
}

// follow reads what the journal says, and the reports of the runs that it names.
func (f *folder) follow(entries []Entry) (err error) {
	if f.state, err = stateOf(f.plan, f.planDigest, entries); err != nil {
		return err
	}
	if f.shard, err = ParseShard(f.state.begun.Shard); err != nil {
		return err
	}
	for _, e := range f.state.all() {
		if e.Digest == "" {
			continue
		}
		o, err := readOutcome(filepath.Join(f.dir, e.Bundle))
		if err != nil {
			return fmt.Errorf("line %d: %w: `evenkeel verify %s` tells what is wrong", e.Line, err, f.dir)
		}
		if o.evidence != e.Digest {
			return fmt.Errorf("line %d: %s is another bundle than the journal has: `evenkeel verify %s` tells what is wrong", e.Line, e.Bundle, f.dir)
		}
		f.outcomes[e.Bundle] = o
	}
	return nil
}

// openFolder reads a campaign, whether or not it is being played.
func openFolder(dir string) (*folder, error) {
	f, err := openPlan(dir)
	if err != nil {
		return nil, err
	}
	entries, _, _, err := readJournal(dir)
	if err != nil {
		return nil, err
	}
	return f, f.follow(entries)
}

// tries of a line that have ended.
func (f *folder) tries(line Line) []try {
	var out []try
	for _, e := range f.state.ended[line.Number] {
		out = append(out, try{e, f.outcomes[e.Bundle]})
	}
	return out
}

// compute makes the report of what there is.
func (f *folder) compute() (*Report, error) {
	_, raw, _, err := readJournal(f.dir)
	if err != nil {
		return nil, err
	}
	return compute(f.plan, f.planDigest, bundle.ContentDigest(raw), f.tries), nil
}

// write writes the report into the folder.
func (f *folder) write(rep *Report) error {
	out, err := rep.YAML()
	if err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(f.dir, ReportFile), out); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// sameTopology is an error where the topology has changed since the plan was made: the runs
// would be of another control plane than those before.
func (p *Plan) sameTopology(file string) error {
	raw, err := clusters.Read(file)
	if err != nil {
		return fmt.Errorf("the topology %s cannot be read: %w", file, err)
	}
	if now := bundle.ContentDigest(raw); now != p.Target.TopologyDigest {
		return fmt.Errorf("the topology %s has changed since the campaign was planned: undo the change, or begin a new campaign", file)
	}
	return nil
}

// Open returns the report of a campaign as far as it was played, and how far it is. Both stand on the
// reports of the runs; Verify judges them again.
func Open(dir string) (*Report, Progress, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, Progress{}, err
	}
	rep, err := f.compute()
	return rep, f.progress(f.parallel()), err
}

// parallel is how many runs are played at a time, as far as the journal tells: with Auto those
// that have begun and not ended.
func (f *folder) parallel() int {
	if f.state.begun.Parallel == Auto {
		return max(len(f.state.pending), 1)
	}
	return max(f.state.begun.Parallel, 1)
}
