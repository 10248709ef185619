package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/pkg/attest"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/regular"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/verify"
)

// Is is whether a folder is that of a campaign, and not that of a single run.
func Is(dir string) bool { return exists(filepath.Join(dir, PlanFile)) }

// VerifyOptions are options of a verification.
type VerifyOptions struct {
	// Key that the campaign must be signed with; nil if the signature does not matter.
	Key *attest.PublicKey
	// Harness is the version of this evenkeel.
	Harness string
	// Bundles is where bundles are taken from that the folder lacks; nil for nowhere.
	Bundles Source
}

// Verification is its outcome.
type Verification struct {
	// Problems are what does not match, a line each; none means that all matches.
	Problems []string
	// Notes are what a reader should know that does not affect whether the campaign matches.
	Notes []string
	// Report as it follows from plan, journal and bundles; nil where that could not be computed.
	Report *Report
	// Judged is how many bundles were judged again.
	Judged int
	// Digests of report, plan and journal.
	Digests []bundle.Digest
	// Signed names the signer, if there is a key and the signature is valid.
	Signed string

	// missing counts bundles that the journal names and that are nowhere.
	missing int
}

// Matches is whether there was no problem.
func (v *Verification) Matches() bool { return len(v.Problems) == 0 }

func (v *Verification) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// Verify tells whether a campaign holds: whether its plan is the one that evenkeel makes for
// what was asked, its bundles are those that the journal names and hold by themselves, and
// its report follows from them. An error means that the campaign cannot be read.
func Verify(ctx context.Context, dir string, o VerifyOptions) (*Verification, error) {
	v := &Verification{}
	f, err := openPlan(dir)
	if err != nil {
		return v.unreadable(dir, err)
	}
	entries, journal, whole, err := readJournal(dir)
	if err != nil {
		return v.unreadable(dir, err)
	}
	if !whole {
		v.problem("the last line of %s is cut off", JournalFile)
	}
	if f.state, err = stateOf(f.plan, f.planDigest, entries); err != nil {
		return v.unreadable(dir, err)
	}
	told, err := regular.ReadFile(filepath.Join(dir, ReportFile), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		v.problem("there is no %s: the campaign was not played to its end, or is a shard of one", ReportFile)
	} else if err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	if err := f.plan.current(); err != nil {
		v.problem("%v", err)
		return v, nil
	}
	v.plan(f.plan)
	if err := v.bundles(ctx, f, o); err != nil {
		return nil, err
	}
	if err := v.strays(f); err != nil {
		return nil, err
	}
	if err := v.others(dir); err != nil {
		return nil, err
	}
	v.Report = compute(f.plan, f.planDigest, bundle.ContentDigest(journal), f.tries)
	if err := v.follows(told); err != nil {
		return nil, err
	}
	v.Digests = []bundle.Digest{{Name: ReportFile, SHA256: bundle.ContentDigest(told)}, {Name: JournalFile, SHA256: bundle.ContentDigest(journal)}, {Name: PlanFile, SHA256: f.planDigest}}
	v.signature(dir, o)
	return v, nil
}

// follows compares the report with what the runs come to. Where a bundle is missing the report
// differs for that alone, which is a problem already.
func (v *Verification) follows(told []byte) error {
	if v.missing > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%s was not compared with the bundles: %d missing", ReportFile, v.missing))
		return nil
	}
	if v.Report.Runs.Unplayed > 0 {
		v.problem("%d of %d lines were not played to their end", v.Report.Runs.Unplayed, v.Report.Runs.Planned)
	}
	if told == nil {
		return nil
	}
	return v.compare(told)
}

// unreadable is the outcome where plan or journal are there and are not what evenkeel writes.
func (v *Verification) unreadable(dir string, err error) (*Verification, error) {
	if !Is(dir) || !exists(filepath.Join(dir, JournalFile)) {
		return nil, err
	}
	v.problem("%v", err)
	return v, nil
}

// plan compares the plan with what evenkeel plans for the same request.
func (v *Verification) plan(p *Plan) {
	again, err := p.again()
	if err != nil {
		v.problem("%s: what it says was asked for cannot be planned: %v", PlanFile, err)
		return
	}
	told, toldErr := p.YAML()
	found, foundErr := again.YAML()
	if err := errors.Join(toldErr, foundErr); err != nil {
		v.problem("%v", err)
		return
	}
	if bytes.Equal(told, found) {
		return
	}
	lines, err := verify.Differences(told, found)
	if err != nil {
		v.problem("%s: %v", PlanFile, err)
	}
	for _, line := range lines[:min(len(lines), maxNamed)] {
		v.problem("%s is not what evenkeel plans for what was asked: %s", PlanFile, line)
	}
}

// bundles verifies all bundles that the journal names, and keeps what they say.
func (v *Verification) bundles(ctx context.Context, f *folder, o VerifyOptions) error {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	all := f.state.all()
	problems := make([][]string, len(all))
	outcomes := map[string]*outcome{}
	for i, e := range all {
		if e.Digest == "" {
			problems[i] = doubted(f, e)
			continue
		}
		group.Go(func() error {
			found, told, err := verifyBundle(ctx, f, e, o)
			var missing *missingError
			if err != nil && !errors.As(err, &missing) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if missing != nil {
				v.missing++
				told = []string{missing.Error()}
			}
			problems[i] = told
			if found != nil {
				v.Judged++
				outcomes[e.Bundle] = found
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	seen := map[string]Ended{}
	for i, e := range all {
		for _, p := range problems[i] {
			v.problem("%s: %s", e.place(), p)
		}
		if before, twice := seen[e.Digest]; twice && e.Digest != "" {
			v.problem("%s: its bundle is that of %s: a run counts once", e.place(), before.place())
		}
		seen[e.Digest] = e
		if e.Digest == "" {
			v.Notes = append(v.Notes, fmt.Sprintf("%s has no bundle that could be verified: %s%s", e.place(), e.Failed, e.Refused))
		}
	}
	f.outcomes = outcomes
	v.tries(f)
	return nil
}

// missingError is a bundle that is nowhere, which leaves nothing to compare.
type missingError struct{ why string }

func (e *missingError) Error() string { return e.why }

// verifyBundle verifies a bundle that the journal names, and gives what it says. It is a
// missingError where there is no bundle.
func verifyBundle(ctx context.Context, f *folder, e Ended, o VerifyOptions) (*outcome, []string, error) {
	dir := filepath.Join(f.dir, e.Bundle)
	if !exists(dir) {
		if o.Bundles == nil {
			return nil, nil, &missingError{"its bundle is missing; name with --bundles where bundles are"}
		}
		fetched, done, err := o.Bundles.Fetch(ctx, e.Digest)
		if err != nil {
			return nil, nil, &missingError{fmt.Sprintf("its bundle %.12s is missing: %v", e.Digest, err)}
		}
		defer done()
		dir = fetched
	}
	held, err := verify.Bundle(ctx, dir, verify.Options{Harness: o.Harness})
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		return nil, []string{err.Error()}, nil
	}
	problems := held.Problems
	if held.Report == nil {
		return nil, append(problems, "its bundle cannot be judged"), nil
	}
	found := outcomeOf(held.Report)
	if found.evidence != e.Digest {
		problems = append(problems, fmt.Sprintf("%s is another bundle than the journal has: its digest is %s, and the journal says %s", e.Bundle, found.evidence, e.Digest))
	}
	if why := found.misfits(f.plan, f.plan.Lines[e.Line-1]); why != "" {
		problems = append(problems, why)
	}
	if found.interrupted() {
		problems = append(problems, "its run was interrupted, and does not count")
	}
	return found, problems, nil
}

// doubted says what is wrong with a try that the journal says left no verdict: that it left
// a bundle which shows a breach.
func doubted(f *folder, e Ended) []string {
	dir := filepath.Join(f.dir, e.Bundle)
	if e.Bundle == "" || !sealed(dir) {
		return nil
	}
	o, err := readOutcome(dir)
	if err == nil && o.verdict == check.Fail && o.misfits(f.plan, f.plan.Lines[e.Line-1]) == "" {
		return []string{fmt.Sprintf("the journal says that it does not count (%s), and its bundle shows a breach", e.Failed)}
	}
	return nil
}

// tries makes sure that no line was tried again after it was over: else a breach could be
// followed by tries until it is gone, and a clean run could be repeated.
func (v *Verification) tries(f *folder) {
	for _, line := range f.plan.Lines {
		tries := f.tries(line)
		for i := range tries {
			if i > 0 && over(f.plan, line, tries[:i]) {
				v.problem("line %d was over after %d tries, and has %d", line.Number, i, len(tries))
				break
			}
		}
	}
}

// strays are bundles that the journal does not name.
func (v *Verification) strays(f *folder) error {
	dir := filepath.Join(f.dir, RunsDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the bundles lie elsewhere
	}
	if err != nil {
		return fmt.Errorf("list the bundles: %w", err)
	}
	var named []string
	for _, e := range f.state.all() {
		named = append(named, e.Bundle)
	}
	for _, e := range entries {
		name := RunsDir + "/" + e.Name()
		if filepath.Ext(name) == LogSuffix && e.Type().IsRegular() || slices.Contains(named, name) {
			continue
		}
		v.problem("%s is in no line of the journal", name)
	}
	return nil
}

// others are what lies beside the files of the campaign. The digests and the signature are of
// none of it: a reader should not take it for evidence.
func (v *Verification) others(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list the campaign: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !slices.Contains(Files, e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("what else lies in the folder is no part of the campaign: %s", strings.Join(named(names, "files"), ", ")))
	}
	return nil
}

// compare compares the report with what was computed.
func (v *Verification) compare(told []byte) error {
	found, err := v.Report.YAML()
	if err != nil {
		return err
	}
	if bytes.Equal(told, found) {
		return nil
	}
	lines, err := verify.Differences(told, found)
	if err != nil {
		v.problem("%s cannot be read: %v", ReportFile, err)
		return nil
	}
	if len(lines) == 0 {
		v.problem("%s: no field differs from what the bundles say, but it is not written as evenkeel writes it", ReportFile)
	}
	shown := lines
	if len(v.Problems) > 0 {
		// A bundle or the plan does not hold, and what the report says differs for that.
		shown = named(lines, "fields of it")
	}
	for _, line := range shown {
		v.problem("%s: %s", ReportFile, line)
	}
	return nil
}

// Predicate is what a signature says of the campaign.
func (v *Verification) Predicate() attest.Predicate {
	p := attest.Predicate{
		Run: v.Report.Plan, Date: v.Report.Ended, Harness: v.Report.Harness.Version, Provider: v.Report.Target.Provider,
		Distribution: v.Report.Target.Distribution, Verdict: v.Report.Verdict, Verdicts: map[requirement.ID]check.Verdict{},
	}
	for _, r := range v.Report.Requirements {
		p.Verdicts[r.ID] = r.Verdict
	}
	return p
}

// signature checks the signature of the whole.
func (v *Verification) signature(dir string, o VerifyOptions) {
	envelope, err := attest.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if o.Key != nil {
			v.problem("it is not signed: there is no %s", bundle.SignatureFile)
		}
		return
	case err != nil:
		v.problem("%s: %v", bundle.SignatureFile, err)
		return
	case o.Key == nil:
		v.Notes = append(v.Notes, fmt.Sprintf("it names the key %s as its signer; name the public key with --key to have that checked", envelope.KeyID()))
	default:
		if err := envelope.Check(o.Key); err != nil {
			v.problem("%s: %v", bundle.SignatureFile, err)
			return
		}
		v.Signed = o.Key.ID()
	}
	judged := v.Predicate()
	for _, p := range envelope.Statement.CompareCampaign(v.Digests, &judged) {
		v.problem("%s: %s", bundle.SignatureFile, p)
	}
}
