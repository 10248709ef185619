package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Options of an exploration.
type Options struct {
	Composer *Composer
	// Random plays without guidance: no schedule is a variation of another one.
	Random bool
	// Max is how many schedules are played at most; 0 is no limit. Budget is after which time
	// no further one begins; 0 is no limit.
	Max    int
	Budget time.Duration
	// Enough ends the exploration after a run that shows what was looked for; nil is never.
	Enough func(story *Story) bool
	// Parallel is how many schedules are played side by side.
	Parallel int
	// Out is the folder for finds, the log and the runs that are under way. With Keep the
	// bundles of the other runs stay too.
	Out  string
	Keep bool
	// Play plays a schedule, whose files are in a folder, into the folder of a bundle.
	Play func(ctx context.Context, s *Schedule, files, bundle string) error
	// Story reads what a bundle shows.
	Story func(ctx context.Context, bundle string) (*Story, error)
	Clock clock.Clock
	// Console gets the output for the user.
	Console io.Writer
}

// Folders and files below Options.Out.
const (
	runsFolder  = "runs"
	findsFolder = "finds"
	keptFolder  = "kept"
	logFile     = "explore.jsonl"
	// The files of a schedule.
	scenarioFile = "scenario.yaml"
	topologyFile = "topology.yaml"
	findFile     = "find.json"
	// bundleFolder holds the bundle of a run, beside the files of its schedule.
	bundleFolder = "bundle"
)

// mostSpoilt is after how many runs in a row that could not be judged the exploration ends: what
// keeps it from its work is then the machine or the target, and no schedule.
const mostSpoilt = 3

// explorer is an exploration under way.
type explorer struct {
	Options
	began time.Time

	mu sync.Mutex
	// next is the index of the next schedule, and played how many this exploration has played.
	next, played int
	corpus       []*Schedule
	seen         map[string]bool
	// known are the fingerprints that were found.
	known  map[string]bool
	spoilt int
	enough bool
	log    *journal
	result Result
}

// Result is what came of an exploration.
type Result struct {
	// Schedules that were played, and Spoilt those that could not be judged.
	Schedules, Spoilt int
	// Features is how many combinations were reached, and Corpus how many schedules reached a
	// new one.
	Features, Corpus int
	// Finds by fingerprint.
	Finds []Find
	// Doubtful are how many runs had a reason not to trust any pass.
	Doubtful int
	Took     time.Duration
}

// Explore plays schedules until the budget is over, the schedules are played, or the context
// ends. What was found until then is on the disk. The error says why it could not go on.
func Explore(ctx context.Context, o Options) (*Result, error) {
	e := &explorer{Options: o, began: o.Clock.Now(), seen: map[string]bool{}, known: map[string]bool{}}
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var playing sync.WaitGroup
	for range max(o.Parallel, 1) {
		playing.Go(func() {
			for ctx.Err() == nil {
				more, err := e.one(ctx)
				if err != nil {
					cancel(err)
				}
				if !more {
					return
				}
			}
		})
	}
	playing.Wait()
	e.result.Features, e.result.Corpus, e.result.Took = len(e.seen), len(e.corpus), o.Clock.Since(e.began)
	err := errors.Join(context.Cause(ctx), e.log.close())
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = nil
	}
	return &e.result, err
}

// begin reads what an earlier exploration has left in the folder, and judges the runs that it did
// not come to judge.
func (e *explorer) begin(ctx context.Context) error {
	for _, folder := range []string{runsFolder, findsFolder} {
		if err := os.MkdirAll(filepath.Join(e.Out, folder), 0o755); err != nil {
			return fmt.Errorf("make the folder for the exploration: %w", err)
		}
	}
	records, log, err := openJournal(filepath.Join(e.Out, logFile))
	if err != nil {
		return err
	}
	e.log = log
	for _, r := range records {
		if r.Seed != e.Composer.Seed {
			return errors.Join(fmt.Errorf("%s was explored with seed %d: take another --out, or that seed", e.Out, r.Seed), log.close())
		}
		e.recall(r)
	}
	err = e.recallFolders()
	if err == nil {
		err = e.salvageAll(ctx)
	}
	if err != nil {
		return errors.Join(err, log.close())
	}
	return nil
}

// one plays one more schedule, if there is to be one.
func (e *explorer) one(ctx context.Context) (more bool, err error) {
	s, err := e.compose()
	if s == nil || err != nil {
		return false, err
	}
	dir := filepath.Join(e.Out, runsFolder, fmt.Sprint(s.Index))
	if err := s.Write(dir); err != nil {
		return false, err
	}
	playErr := e.Play(ctx, s, dir, filepath.Join(dir, bundleFolder))
	if ctx.Err() != nil {
		// What was recorded until then is judged too. It ends before its time, so that it
		// shows no more than breaches.
		playErr = errors.Join(context.Cause(ctx), playErr)
	}
	story, err := e.Story(context.WithoutCancel(ctx), filepath.Join(dir, bundleFolder))
	if err != nil {
		story, playErr = nil, errors.Join(playErr, err)
	}
	return ctx.Err() == nil, e.take(s, dir, story, playErr)
}

// compose draws the next schedule; nil where none is to be played any more.
func (e *explorer) compose() (*Schedule, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	over := e.Budget > 0 && e.Clock.Since(e.began) >= e.Budget
	if over || e.enough || e.Max > 0 && e.played >= e.Max {
		return nil, nil
	}
	var corpus []*Schedule
	if !e.Random {
		corpus = e.corpus
	}
	s, err := e.Composer.Compose(e.next, corpus)
	if err == nil {
		s.drawnFrom = len(corpus)
	}
	e.next++
	e.played++
	return s, err
}

// Write writes the files of a schedule into a folder.
func (s *Schedule) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of schedule %d: %w", s.Index, err)
	}
	for name, content := range map[string][]byte{scenarioFile: s.Scenario, topologyFile: s.Topology} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return fmt.Errorf("write schedule %d: %w", s.Index, err)
		}
	}
	return nil
}

// take keeps what a run has shown. The story is nil where it could not be judged.
func (e *explorer) take(s *Schedule, dir string, story *Story, playErr error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.result.Schedules++
	r := record{Seed: s.Seed, Index: s.Index, Parent: s.Parent, At: e.Clock.Since(e.began), DrawnFrom: s.drawnFrom, Digest: s.digest()}
	if playErr != nil {
		r.Error = playErr.Error()
	}
	if story == nil {
		e.result.Spoilt++
		e.spoilt++
		fmt.Fprintf(e.Console, "%4d  could not be judged: %s\n", s.Index, r.Error)
		err := e.log.add(r)
		if e.spoilt >= mostSpoilt {
			err = errors.Join(err, fmt.Errorf("%d schedules in a row could not be judged, the last one: %w", e.spoilt, playErr))
		}
		return errors.Join(err, e.leave(s, dir, false))
	}
	e.spoilt = 0
	r.Idle, r.Doubts, r.Open, r.Took = story.Idle, story.Doubts, story.Open, story.Took
	if len(story.Doubts) > 0 {
		e.result.Doubtful++
	}
	for _, feature := range story.Features {
		if !e.seen[feature] {
			e.seen[feature] = true
			r.New = append(r.New, feature)
		}
	}
	if len(r.New) > 0 && s.Genes != nil {
		e.corpus = append(e.corpus, s)
	}
	r.Finds = story.Finds
	e.enough = e.enough || e.Enough != nil && e.Enough(story)
	fmt.Fprintf(e.Console, "%4d  %-6s %3d new of %3d  %s\n", s.Index, story.Took.Round(time.Second), len(r.New), len(story.Features), verdict(story))
	if err := e.keep(s, dir, story); err != nil {
		return err // the log must not have a find whose bundle is not kept
	}
	return e.log.add(r)
}

func verdict(story *Story) string {
	switch {
	case len(story.Finds) > 0:
		text := "FAIL"
		for _, f := range story.Finds {
			text += " " + f.Fingerprint.Requirement
		}
		return text
	case len(story.Doubts) > 0:
		return "doubtful: " + story.Doubts[0]
	}
	if story.Idle > 0 {
		return fmt.Sprintf("nothing broken; %d faults met nothing", story.Idle)
	}
	return fmt.Sprintf("%d requirements hold", len(story.Passed))
}

// keep moves the bundle of a run with a new fingerprint among the finds. Each fingerprint has the
// bundle of the run that showed it first.
func (e *explorer) keep(s *Schedule, dir string, story *Story) error {
	var fresh []Find
	for _, f := range story.Finds {
		if !e.known[f.Fingerprint.String()] {
			fresh = append(fresh, f)
		}
	}
	if len(fresh) == 0 {
		return e.leave(s, dir, true)
	}
	to := filepath.Join(e.Out, findsFolder, fmt.Sprintf("%d-%s", s.Index, fresh[0].Fingerprint.Folder()))
	if err := writeJSON(filepath.Join(dir, findFile), fresh); err != nil {
		return err
	}
	if err := os.Rename(dir, to); err != nil {
		return fmt.Errorf("keep the find of schedule %d, which is in %s: %w", s.Index, dir, err)
	}
	for _, f := range fresh {
		e.known[f.Fingerprint.String()] = true
		e.result.Finds = append(e.result.Finds, f)
		fmt.Fprintf(e.Console, "      find: %s: %s\n      %s\n", f.Fingerprint.Requirement, f.Message, to)
	}
	return nil
}

// leave removes the files of a run. It keeps them where that is asked for, and where there is a
// history that could not be judged: that may show a breach.
func (e *explorer) leave(s *Schedule, dir string, judged bool) error {
	if !e.Keep && (judged || !recorded(dir)) {
		return os.RemoveAll(dir)
	}
	to := filepath.Join(e.Out, keptFolder)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("keep the bundle of schedule %d: %w", s.Index, err)
	}
	return os.Rename(dir, filepath.Join(to, fmt.Sprint(s.Index)))
}

// Fingerprints of the finds, sorted.
func (r *Result) Fingerprints() []string {
	all := map[string]bool{}
	for _, f := range r.Finds {
		all[f.Fingerprint.String()] = true
	}
	return slices.Sorted(maps.Keys(all))
}
