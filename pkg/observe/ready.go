package observe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Revisioner reads etcd's current revision; Etcd is one.
type Revisioner interface {
	Revision(ctx context.Context) (int64, error)
}

// Prober records the readiness of one member's API server, and what that
// hosts once it is ready.
type Prober struct {
	member    string
	config    func() (*rest.Config, error)
	recorder  Recorder
	revisions Revisioner
	clock     clock.WithTicker
	// onReady is told of the first ready answer of each instance.
	onReady func(instance int)

	mu       sync.Mutex
	instance int  // of the API server; 0 before the first
	running  bool // whether that instance's process exists
	ready    bool // whether the last answer of that instance was ready
	was      bool // whether that instance was ever ready
	stopping bool // whether that instance was asked to end
	seen     history.Ready
	failure  error // why the last question had no answer
	down     bool  // whether that instance was ended on purpose
	moved    chan struct{}
	woken    chan struct{}

	// Only the goroutine of Run uses what follows.
	last     history.Ready
	lastTime time.Time
}

// NewProber makes a prober; onReady may be nil. The config function is asked
// until it succeeds.
func NewProber(member string, config func() (*rest.Config, error), recorder Recorder, revisions Revisioner, clk clock.WithTicker, onReady func(instance int)) *Prober {
	if onReady == nil {
		onReady = func(int) {}
	}
	return &Prober{
		member: member, config: config, recorder: recorder, revisions: revisions, clock: clk, onReady: onReady,
		moved: make(chan struct{}), woken: make(chan struct{}, 1),
		last: history.Ready{Code: -1},
	}
}

// ProcessChanged tells the prober of a change of its member's processes.
func (p *Prober) ProcessChanged(change cluster.Change) {
	if change.Member != p.member || change.Component != cluster.APIServer {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch change.What {
	case history.ProcessStarted:
		p.instance, p.running, p.ready, p.was, p.down, p.stopping = change.Instance, true, false, false, false, false
		p.seen, p.failure = history.Ready{}, nil
	case history.ProcessStopping:
		p.stopping = true
	case history.ProcessExited:
		p.running, p.ready, p.down = false, false, change.Expected
	case history.ProcessPaused:
		p.ready = false
	}
	p.announce()
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// announce wakes who waits; it must be called with the lock held.
func (p *Prober) announce() {
	close(p.moved)
	p.moved = make(chan struct{})
}

// WaitReady returns once the running instance answers that it is ready. Where the bound
// of the context passes first, it is a cluster.Unready.
func (p *Prober) WaitReady(ctx context.Context) error {
	began := p.recorder.Now()
	for {
		p.mu.Lock()
		ready, moved := p.ready, p.moved
		p.mu.Unlock()
		if ready {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			if !cluster.TimedOut(ctx) {
				return fmt.Errorf("wait until the API server of %s is ready: %w", p.member, context.Cause(ctx))
			}
			return p.unready(context.Cause(ctx), time.Duration(p.recorder.Now()-began))
		}
	}
}

// unready is that the API server was not ready when the wait ended, and what it said.
func (p *Prober) unready(cause error, waited time.Duration) *cluster.Unready {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := "it has no process"
	switch {
	case !p.running:
	case p.failure != nil:
		last = fmt.Sprintf("/readyz had no answer: %v", p.failure)
	case p.seen.Code == 0:
		last = "/readyz had no answer"
	case len(p.seen.Failing) > 0:
		last = fmt.Sprintf("/readyz answered %d, failing: %s", p.seen.Code, strings.Join(p.seen.Failing, ", "))
	default:
		last = fmt.Sprintf("/readyz answered %d", p.seen.Code)
	}
	return &cluster.Unready{
		Member: p.member, Component: cluster.APIServer, Waited: waited, Code: p.seen.Code, Failing: p.seen.Failing,
		What: fmt.Sprintf("was not ready after %s, when %v: %s", waited.Round(time.Millisecond), cause, last),
	}
}

// Ready is whether the running instance has answered last that it is ready.
func (p *Prober) Ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ready
}

// Down is whether the API server was ended on purpose and not started since.
func (p *Prober) Down() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.down
}

// Run probes until the context ends.
func (p *Prober) Run(ctx context.Context) {
	client := connectUntil(ctx, p.member, p.config, p.recorder, p.clock)
	if client == nil {
		return
	}
	defer client.Close()
	var lookups sync.WaitGroup
	defer lookups.Wait()
	for ctx.Err() == nil {
		if p.probe(ctx, client) {
			lookups.Go(func() { p.Look(ctx, client) })
		}
		p.wait(ctx)
	}
}

// wait ends early when a process changes, so that a start is noticed at once.
func (p *Prober) wait(ctx context.Context) {
	timer := p.clock.NewTimer(p.interval())
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-p.woken:
	case <-ctx.Done():
	}
}

// interval is the pause between two questions.
func (p *Prober) interval() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.was || p.stopping {
		return ReadyFast // what it tells of itself while it starts and stops is over soon
	}
	return ReadySlow
}

// probe asks once and records the answer where it is news; first is whether
// it was the first ready answer of an instance.
func (p *Prober) probe(ctx context.Context, client *Client) (first bool) {
	p.mu.Lock()
	instance, running, was := p.instance, p.running, p.was
	p.mu.Unlock()

	from := p.recorder.Now()
	bounded, cancel := context.WithTimeout(ctx, ReadyTimeout)
	answer := client.send(bounded, http.MethodGet, "/readyz", map[string][]string{"verbose": {""}}, nil)
	cancel()
	if ctx.Err() != nil {
		return false
	}
	seen := history.Ready{Code: answer.Code}
	if answer.Code != http.StatusOK {
		seen.Failing = failingChecks(answer.Body)
	}

	p.mu.Lock()
	// The answer is that of the instance only if it was there all the time.
	same := instance == p.instance && running && p.running
	if same {
		p.seen, p.failure = seen, answer.Err
	}
	p.mu.Unlock()
	first = same && !was && seen.Code == http.StatusOK
	if seen.Code == http.StatusOK && (first || p.last.Code != http.StatusOK) {
		if revision, err := p.revisions.Revision(ctx); err == nil {
			seen.Revision = revision
		} else {
			// It is of no use without the revision; the next answer comes soon.
			first = false
			same = false
		}
	}
	p.record(from, seen, first)

	if same {
		p.mu.Lock()
		if instance == p.instance && p.running && p.ready != (seen.Code == http.StatusOK) {
			p.ready = seen.Code == http.StatusOK
			p.was = p.was || p.ready
			p.announce()
		}
		p.mu.Unlock()
	}
	if first {
		p.onReady(instance)
	}
	return first
}

func (p *Prober) record(from int64, seen history.Ready, first bool) {
	now := p.clock.Now()
	news := first || seen.Code != p.last.Code || !slices.Equal(seen.Failing, p.last.Failing)
	if !news && now.Sub(p.lastTime) < ReadyRepeat {
		return
	}
	p.last, p.lastTime = seen, now
	p.recorder.Record(history.Event{Kind: history.KindReady, Member: p.member, From: from, Ready: &seen})
}

// Look records version and discovery through the client, trying for a while.
// It gives up without a word when the instance ends meanwhile.
func (p *Prober) Look(ctx context.Context, client *Client) {
	p.mu.Lock()
	instance := p.instance
	p.mu.Unlock()
	var err error
	for range DiscoveryAttempts {
		if err = p.look(ctx, client); err == nil {
			return
		}
		pause(ctx, p.clock, RetryInterval)
		p.mu.Lock()
		gone := instance != p.instance || !p.running
		p.mu.Unlock()
		if gone || ctx.Err() != nil {
			return
		}
	}
	p.recorder.Record(history.Event{Kind: history.KindRecorderMissed, Member: p.member, RecorderMissed: &history.RecorderMissed{Source: history.SourceHostedResources, Message: err.Error()}})
}

func (p *Prober) look(ctx context.Context, client *Client) error {
	from := p.recorder.Now()
	answer := client.Get(ctx, "/version")
	var version history.Release
	if answer.Err != nil {
		return fmt.Errorf("get /version from %s: %w", p.member, answer.Err)
	}
	if answer.Code != http.StatusOK || json.Unmarshal(answer.Body, &version) != nil {
		return fmt.Errorf("get /version from %s: it answered with status %d and no version", p.member, answer.Code)
	}
	p.recorder.Record(history.Event{Kind: history.KindVersion, Member: p.member, From: from, Version: &version})

	from = p.recorder.Now()
	resources, err := discover(ctx, client)
	if err != nil {
		return err
	}
	revision, err := p.revisions.Revision(ctx)
	if err != nil {
		return err
	}
	p.recorder.Record(history.Event{Kind: history.KindHostedResources, Member: p.member, From: from,
		HostedResources: &history.HostedResources{Revision: revision, Resources: resources}})
	return nil
}

// failingChecks reads the names of the checks that did not pass from the
// answer of /readyz?verbose.
func failingChecks(body []byte) []string {
	var failing []string
	lines := bufio.NewScanner(bytes.NewReader(body))
	for lines.Scan() {
		if rest, found := strings.CutPrefix(lines.Text(), "[-]"); found {
			name, _, _ := strings.Cut(rest, " ")
			failing = append(failing, name)
		}
	}
	slices.Sort(failing)
	return failing
}

// connectUntil makes a client as soon as the configuration for it is there; it
// is nil only when the context ended before.
func connectUntil(ctx context.Context, member string, config func() (*rest.Config, error), recorder Recorder, clk clock.WithTicker) *Client {
	for ctx.Err() == nil {
		if c, err := config(); err == nil {
			if client, err := NewClient(member, c, recorder); err == nil {
				return client
			}
		}
		pause(ctx, clk, RetryInterval)
	}
	return nil
}
