// Package timeline draws a run: one page for a browser, which needs no network
// and follows from the history and the report alone, to the byte.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package timeline

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
)

// Bundle gives the page of a bundle, whose history gave the report. The bundle
// is not changed.
func Bundle(ctx context.Context, dir string, rep *report.ConformanceReport) ([]byte, error) {
	file, err := bundle.History(dir)
	if err != nil {
		return nil, fmt.Errorf("the timeline cannot be made: %w", err)
	}
	c, err := collectFile(ctx, file, rep)
	if err != nil {
		return nil, fmt.Errorf("the timeline cannot be made: %w", err)
	}
	return c.page()
}

func collectFile(ctx context.Context, file string, rep *report.ConformanceReport) (*collector, error) {
	// Twice: which events are to be shown in full is known only when all were seen,
	// and all of them at once may be more than there is memory for.
	c := newCollector(rep, filepath.Base(file))
	if err := history.Each(ctx, file, c.begin, c.take); err != nil {
		return nil, err
	}
	c.finish()
	k := c.keeper()
	if err := history.Each(ctx, file, func(history.Header) {}, k.take); err != nil {
		return nil, err
	}
	c.picture.Events = k.events()
	return c, nil
}

// collector makes a picture of events.
type collector struct {
	report  *report.ConformanceReport
	header  history.Header
	picture picture

	now   int64
	texts map[string]int
	// releases, versions and tags in the order in which they came up.
	releases, versions, tags palette

	components map[string]map[string]*component
	leases     ordered[*track]
	agreed     ordered[*track]
	migrations ordered[*track]
	seenTags   map[string]*track
	compared   map[string]*comparisons
	hashes     track
	requests   map[string]*requests
	balancer   *requests
	steps      track
	holds      track
	// held has the hold of a step, by the number of the event that the step began with.
	held   map[int64]*held
	faults []*fault
	gaps   []mark
	// course is what happened when, for the words on a finding.
	course course
	// evidence has the time of every event that a finding or an example of what was kept
	// names, and examples those that only such an example names.
	evidence map[int64]*moment
	examples map[int64]bool
}

func newCollector(rep *report.ConformanceReport, file string) *collector {
	c := &collector{
		report: rep, texts: map[string]int{}, components: map[string]map[string]*component{},
		seenTags: map[string]*track{}, compared: map[string]*comparisons{}, requests: map[string]*requests{}, balancer: &requests{},
		held: map[int64]*held{}, evidence: map[int64]*moment{}, examples: map[int64]bool{},
	}
	c.picture.History = file
	// An event is found by its number: the line that it is in is another one, since the
	// header is the first.
	c.picture.Show = `grep -m1 '"seq":N,' ` + file
	if filepath.Ext(file) == bundle.Compressed {
		c.picture.Show = `zcat ` + file + ` | grep -m1 '"seq":N,'`
	}
	// What a finding names comes first: it is shown at more length.
	for _, res := range rep.Results {
		for _, v := range res.Violations {
			c.want(v.Evidence)
		}
		for _, d := range res.Deviations {
			for _, v := range d.Examples {
				c.want(v.Evidence)
			}
		}
	}
	for _, res := range rep.Results {
		if res.Verdict != check.Pass {
			continue
		}
		for _, k := range res.Kept {
			for _, seq := range k.Events {
				if _, named := c.evidence[seq]; !named {
					c.examples[seq] = true
				}
			}
			c.want(k.Events)
		}
	}
	return c
}

// want notes events whose times the page is to tell.
func (c *collector) want(seqs []int64) {
	for _, seq := range seqs {
		c.evidence[seq] = nil
	}
}

func (c *collector) begin(h history.Header) {
	c.header = h
	c.picture.Started = h.Started.UnixMilli()
	for _, m := range h.Members {
		c.components[m.Name] = map[string]*component{}
		c.releases.number(m.Release)
		c.requests[m.Name] = &requests{}
	}
}

// text gives the index of a text, which is written once.
func (c *collector) text(format string, args ...any) int {
	s := fmt.Sprintf(format, args...)
	if i, ok := c.texts[s]; ok {
		return i
	}
	c.texts[s] = len(c.picture.Texts)
	c.picture.Texts = append(c.picture.Texts, s)
	return len(c.picture.Texts) - 1
}

// take sees one event. Damage is the report's to tell of: what can be read is
// drawn.
func (c *collector) take(ev *history.Event) {
	c.now = max(c.now, ev.At/1000)
	switch {
	case ev.Step != nil:
		c.takeStep(ev)
	case ev.Hold != nil:
		c.takeHold(ev)
	case ev.Process != nil:
		c.takeProcess(ev)
	case ev.Ready != nil:
		c.takeReady(ev)
	case ev.Fault != nil:
		c.takeFault(ev)
	case ev.Stored != nil:
		c.takeStored(ev)
	case ev.DiscoveryDocument != nil:
		c.takeDocument(ev)
	case ev.Request != nil:
		c.requestsOf(ev.Member).take(c.now, ev.Seq, ev.Request.Code, ev.Request.Barrier)
	case ev.LoadBalancer != nil:
		c.balancer.take(c.now, ev.Seq, ev.LoadBalancer.Code, false)
	case ev.Read != nil:
		c.takeRead(ev)
	case ev.Visibility != nil:
		c.takeVisibility(ev)
	case ev.CustomResourceAnswer != nil:
		c.takeCustom(ev)
	case ev.EtcdHash != nil:
		c.takeHash(ev)
	case ev.RecorderMissed != nil:
		c.gaps = append(c.gaps, mark{c.now, markGap, ev.Seq, 1})
	}
	c.course.take(ev)
	if _, wanted := c.evidence[ev.Seq]; wanted {
		c.evidence[ev.Seq] = c.course.moment(ev)
	}
}

func (c *collector) requestsOf(member string) *requests {
	if c.requests[member] == nil {
		c.requests[member] = &requests{}
	}
	return c.requests[member]
}

// palette numbers things in the order in which they come up.
type palette struct {
	numbers map[string]int
	names   []string
}

func (p *palette) number(name string) int {
	if i, ok := p.numbers[name]; ok {
		return i
	}
	if p.numbers == nil {
		p.numbers = map[string]int{}
	}
	p.numbers[name] = len(p.names)
	p.names = append(p.names, name)
	return len(p.names) - 1
}

// ordered is a map that remembers the order in which its keys came.
type ordered[V any] struct {
	keys []string
	of   map[string]V
}

// get gives the value of a key, which it makes where there is none.
func (o *ordered[V]) get(key string, make func() V) V {
	if v, ok := o.of[key]; ok {
		return v
	}
	if o.of == nil {
		o.of = map[string]V{}
	}
	o.keys = append(o.keys, key)
	o.of[key] = make()
	return o.of[key]
}

// track is a lane in the making: at any time one thing is so.
type track struct {
	spans []span
	open  bool
	// changes counts how often the color or style changed.
	changes int
}

// set ends what was so and says what is so from now on. The same thing again
// changes nothing.
func (t *track) set(now int64, seq int64, style, color, text int) {
	if t.open {
		last := &t.spans[len(t.spans)-1]
		if last.Style == style && last.Color == color && last.Text == text {
			return
		}
		if last.Style != style || last.Color != color {
			t.changes++
		}
		last.To = now
	}
	t.spans = append(t.spans, span{From: now, Style: style, Color: color, Text: text, Seq: seq})
	t.open = true
}

// last is what was so last; nil if nothing ever was.
func (t *track) last() *span {
	if len(t.spans) == 0 {
		return nil
	}
	return &t.spans[len(t.spans)-1]
}

// end ends what was so.
func (t *track) end(now int64) {
	if t.open {
		t.spans[len(t.spans)-1].To = now
		t.open = false
	}
}
