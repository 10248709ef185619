package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
	"github.com/evenkeel/evenkeel/pkg/console"
	"github.com/evenkeel/evenkeel/pkg/disk"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/metrics"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/timeline"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Interrupted is in the message of a report whose run a signal has ended: another run has to
// be played in its place.
const Interrupted = "the run was interrupted"

// Outcome of a run.
type Outcome struct {
	Report *report.ConformanceReport
	// Bundle is the folder that the run left.
	Bundle string
	// Oversize is what the bundle takes if that is more than bundle.MaxCompressed.
	Oversize bundle.Size
}

// Run plays the main job once. An error means that nothing could be judged, or with an
// Outcome beside it that its verdict must not count as a success: a *LeakError or a
// *LeftBehindError. What had been recorded by then is in the bundle.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	if o.Console == nil {
		o.Console = io.Discard
	}
	clk := clock.RealClock{}
	p, err := prepare(ctx, o, clk.Now())
	if err != nil {
		return nil, err
	}
	r := &running{options: o, plan: p, clock: clk, disks: disk.NewWatch(clk, folders(p.out)...)}
	if err := r.disks.Check(); err != nil {
		return nil, err
	}
	if o.MetricsAddr != "" {
		if r.metrics, err = metrics.Listen(ctx, o.MetricsAddr); err != nil {
			return nil, err
		}
		defer func() {
			if closeErr := r.metrics.Close(); closeErr != nil {
				fmt.Fprintf(o.Console, "The metrics could not be closed: %v\n", closeErr)
			}
		}()
	}
	if err := bundle.Create(p.out); err != nil {
		return nil, err
	}
	playErr := r.play(ctx)
	return r.conclude(ctx, playErr)
}

// running is one run under way.
type running struct {
	options Options
	plan    *plan
	clock   clock.WithTicker
	disks   diskWatch
	// metrics is nil where none are served.
	metrics *metrics.Server
	// recorded is whether there is a history to judge.
	recorded bool
	booted   bool
	// unsaved is whether the history could not be written to its end.
	unsaved bool
	// leftBehind is not nil if the run has left an external cluster changed.
	leftBehind *LeftBehindError
	// secrets are the credentials that the bundle must not hold.
	secrets secrets
}

// play records a history. When it returns it has stopped the cluster, also after an error.
func (r *running) play(ctx context.Context) (err error) {
	p := r.plan
	logs, err := filepath.Abs(filepath.Join(p.out, bundle.LogDir))
	if err != nil {
		return fmt.Errorf("find the bundle folder: %w", err)
	}
	observer := &lateObserver{}
	options := cluster.Options{
		Name: p.id, Owner: "run", BundleDir: filepath.Dir(logs), LogDir: logs,
		Observer: observer.changed, Defects: p.defects, Seed: p.seed, AllowDisruption: r.options.AllowDisruption,
	}
	if one, ok := p.provider.(cluster.Beginner); ok {
		if err := one.Begin(ctx, p.topology, options, func(line string) { fmt.Fprintln(r.options.Console, line) }); err != nil {
			return err
		}
	}
	c, err := p.provider.New(ctx, p.topology, options)
	if err != nil {
		return err
	}
	r.secrets.learn(ctx, c)
	defer func() {
		// The steps may have created more credentials, and the cluster has to list them
		// before it stops.
		r.secrets.learn(ctx, c)
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTimeout)
		defer cancel()
		if stopErr := c.Stop(stopCtx); stopErr != nil {
			// The history is complete, and the verdict does not depend on what follows.
			if p.topology.ExternallyManaged() {
				r.leftBehind = &LeftBehindError{Err: stopErr}
				return
			}
			fmt.Fprintf(r.options.Console, "The control plane could not be stopped: %v; `evenkeel cluster clean` removes what is left.\n", stopErr)
		}
	}()

	environment, err := describeEnvironment(r.options, p)
	if err != nil {
		return err
	}
	beside := map[string]string{}
	for name, content := range map[string][]byte{
		bundle.ScenarioFile: p.played(), bundle.TopologyFile: p.topologyYAML, bundle.EnvironmentFile: environment,
	} {
		if err := r.save(name, content); err != nil {
			return err
		}
		beside[name] = bundle.ContentDigest(content)
	}

	leftOut := p.scenario.LeaveOut(c)
	header, err := p.header(c, r.options, beside)
	if err != nil {
		return err
	}
	header.Lacks = p.scenario.Lacks(c, leftOut, r.options.AllowDisruption)
	if err := p.worthwhile(header); err != nil {
		return err
	}
	writer, err := history.Create(filepath.Join(p.out, bundle.HistoryFile), header, r.clock)
	if err != nil {
		return err
	}
	r.recorded = true
	shown := console.New(r.options.Console, header, len(p.scenario.Steps))
	defer shown.Close()
	shown.Say("run %s: scenario %s on %s (%s, %d members), seed %d", p.id, p.scenario.Metadata.Name, p.topology.Metadata.Name,
		p.topology.Spec.Distribution, len(p.topology.Spec.Members), p.seed)
	// Only the header as it was written says when the history began.
	numbers := r.serveMetrics(writer.Header(), shown)
	live := newStanding(writer.Header(), check.Begin(writer.Header(), requirement.All()), r.clock, numbers.Standing)
	defer live.End()
	writer.Subscribe(func(ev history.Event) {
		numbers.Take(&ev)
		progress := live.Take(ev)
		if ev.Request != nil {
			return // the requirements are judged after the next event anyway
		}
		shown.Show(&ev, progress)
		if ev.Step != nil && ev.Step.Index > 0 {
			r.booted = true
		}
	})

	runner := scenario.New(scenario.Options{
		Scenario: p.scenario, Run: p.id, History: writer, Clock: r.clock,
		//nolint:gosec // G115: any bits are a seed.
		Rand: rand.New(rand.NewPCG(uint64(p.seed), 0)), NoTraffic: r.options.NoTraffic,
		LeaveOut: leftOut, Probe: r.options.AllowDisruption, Pace: p.topology.Spec.Settings.Pace(),
	})
	observer.set(askedOnceInterrupted(ctx, runner.ProcessChanged))
	played := r.whileThereIsRoom(ctx, writer, func(ctx context.Context) error { return runner.Play(ctx, c) })
	if ctx.Err() != nil {
		played = errors.Join(errors.New(Interrupted), played)
	}
	if err := writer.Close(runner.End(played)); err != nil {
		r.unsaved = true
		return err // all other errors followed from it
	}
	return played
}

// serveMetrics serves the metrics of the run if MetricsAddr is set.
func (r *running) serveMetrics(header history.Header, shown *console.Console) *metrics.Metrics {
	m := metrics.New(header)
	if r.metrics != nil {
		r.metrics.Serve(m)
		shown.Say("metrics at %s", r.metrics.URL())
	}
	return m
}

// conclude judges what was saved and completes the bundle. It searches for credentials
// before it judges and seals: a reader must not find one in the bundle, and the report must
// follow from the history as the mask has left it.
func (r *running) conclude(ctx context.Context, playErr error) (*Outcome, error) {
	p := r.plan
	// The run judges what it has recorded even if the user stops it meanwhile, and in the
	// same way in which evenkeel judges a bundle again.
	ctx = context.WithoutCancel(ctx)
	leaked := oneline.Join(r.hush(ctx), r.unsearched())
	if !r.recorded {
		// There is nothing to judge, nor to keep.
		bundle.Discard(p.out)
		return nil, errors.Join(playErr, leaked)
	}
	rep, err := judge.Bundle(ctx, p.out)
	if err != nil {
		return nil, errors.Join(playErr, leaked, err)
	}
	if err := r.publish(ctx, rep); err != nil {
		return nil, errors.Join(playErr, leaked, err)
	}
	leaked = oneline.Join(leaked, r.hush(ctx))
	if err := bundle.Seal(ctx, p.out); err != nil {
		return nil, errors.Join(playErr, leaked, err)
	}
	out := &Outcome{Report: rep, Bundle: p.out}
	if leaked != nil {
		// A run does not pass if its bundle has held a credential, or may have.
		return out, errors.Join(playErr, &LeakError{leaked})
	}
	if r.leftBehind != nil {
		return out, errors.Join(playErr, r.leftBehind)
	}
	if out.Oversize, err = bundle.Oversize(p.out, bundle.MaxCompressed); err != nil {
		return out, errors.Join(playErr, err)
	}
	if playErr != nil && (!r.booted || r.unsaved) && rep.Verdict != check.Fail {
		// The run has played nothing, or its history is not on the disk, so there is no
		// verdict.
		return out, playErr
	}
	return out, nil
}

// publish writes what follows from the history.
func (r *running) publish(ctx context.Context, rep *report.ConformanceReport) error {
	data, err := rep.YAML()
	if err != nil {
		return err
	}
	if err := r.save(bundle.ReportFile, data); err != nil {
		return err
	}
	if data, err = rep.JUnit(); err != nil {
		return err
	}
	if err := r.save(bundle.JUnitFile, data); err != nil {
		return err
	}
	if data, err = metrics.Bundle(ctx, r.plan.out, rep); err != nil {
		return err
	}
	if err := r.save(bundle.MetricsFile, data); err != nil {
		return err
	}
	if err := bundle.CompressHistory(r.plan.out, bundle.CompressFrom); err != nil {
		return err
	}
	// It names the history as it is now.
	page, err := timeline.Bundle(ctx, r.plan.out, rep)
	if err != nil {
		return err
	}
	return r.save(bundle.TimelineFile, page)
}

func (r *running) save(name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(r.plan.out, name), data, 0o644); err != nil {
		return fmt.Errorf("the bundle cannot be written%s: %w", remedy(err), err)
	}
	return nil
}

// played is the scenario file as it was read, with the seed that it was played
// with.
func (p *plan) played() []byte {
	return fmt.Appendf(nil, "# Played with seed %d.\n%s", p.seed, p.scenarioYAML)
}

// lateObserver lets the run create a cluster before the runner that observes it.
type lateObserver struct {
	mu sync.Mutex
	do cluster.Observer
}

func (l *lateObserver) set(do cluster.Observer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.do = do
}

func (l *lateObserver) changed(c cluster.Change) {
	l.mu.Lock()
	do := l.do
	l.mu.Unlock()
	if do != nil {
		do(c)
	}
}
