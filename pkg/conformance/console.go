package conformance

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// refreshEvery is how often the table in a terminal is drawn again.
const refreshEvery = time.Second

// Console shows a campaign: a plain line for each run that ends, and in a terminal below them
// a table of the runs that are played now and of what is left.
type Console struct {
	out   io.Writer
	clock clock.WithTicker
	// cost is about how long a run of a scenario takes.
	cost func(scenario string) time.Duration
	// width of the terminal; 0 where there is none.
	width int

	mu       sync.Mutex
	progress Progress
	playing  map[int]playing
	// drawn is how many lines the table has on the screen.
	drawn         int
	stop, stopped chan struct{}
}

// playing is a run that is played now.
type playing struct {
	line  Line
	try   int
	since time.Time
}

// NewConsole makes a console.
func NewConsole(out io.Writer, clk clock.WithTicker, cost func(scenario string) time.Duration) *Console {
	c := &Console{out: out, clock: clk, cost: cost, playing: map[int]playing{}}
	f, ok := out.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			c.width = width
		}
	}
	return c
}

// Begin implements View.
func (c *Console) Begin(p Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = p
	done, of := p.count()
	c.line(fmt.Sprintf("%d runs, of which %d are over; %d at a time, about %s left", of, done, p.Parallel, inMinutes(p.Left(c.cost))))
	if c.width == 0 {
		return
	}
	c.stop, c.stopped = make(chan struct{}), make(chan struct{})
	go c.refresh(c.clock.NewTicker(refreshEvery), c.stop, c.stopped)
}

// refresh draws the table again and again.
func (c *Console) refresh(tick clock.Ticker, stop, stopped chan struct{}) {
	defer close(stopped)
	defer tick.Stop()
	for {
		select {
		case <-tick.C():
			c.mu.Lock()
			c.erase()
			c.draw()
			c.mu.Unlock()
		case <-stop:
			return
		}
	}
}

// End implements View.
func (c *Console) End() {
	if c.stop == nil {
		return
	}
	close(c.stop)
	<-c.stopped
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	c.width = 0
}

// Started implements View.
func (c *Console) Started(line Line, try int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.playing[line.Number] = playing{line, try, c.clock.Now()}
	c.erase()
	c.draw()
}

// Ended implements View.
func (c *Console) Ended(line Line, e Ended, told Told, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.playing, line.Number)
	for i := range c.progress.Lines {
		if l := &c.progress.Lines[i]; l.Line.Number == line.Number {
			l.Tries, l.Seconds, l.Over = e.Try, l.Seconds+e.Seconds, !again
			l.Verdict, l.Refused = check.Verdict(told.Verdict), e.Refused != ""
		}
	}
	done, of := c.progress.count()
	text := fmt.Sprintf("[%d/%d] line %d, %s, seed %d: %s after %d s", done, of, line.Number, line.Scenario, line.Seed, told.Verdict, e.Seconds)
	if again {
		text += ", and is tried again"
	}
	if told.Why != "" {
		text += "\n    " + told.Why
	}
	c.line(text)
}

// GivenUp implements View.
func (c *Console) GivenUp(line Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.playing, line.Number)
	c.line(fmt.Sprintf("line %d, %s, seed %d: interrupted, and to be played again", line.Number, line.Scenario, line.Seed))
}

// Say implements View.
func (c *Console) Say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line(text)
}

// line writes a line above the table.
func (c *Console) line(text string) {
	c.erase()
	fmt.Fprintln(c.out, text)
	c.draw()
}

// erase takes the table off the screen.
func (c *Console) erase() {
	if c.drawn > 0 {
		fmt.Fprintf(c.out, "\x1b[%dA\x1b[J", c.drawn)
		c.drawn = 0
	}
}

// draw draws the table.
func (c *Console) draw() {
	if c.width == 0 || c.stop == nil {
		return
	}
	rows := []string{""}
	for _, number := range sortedKeys(c.playing) {
		p := c.playing[number]
		rows = append(rows, fmt.Sprintf("  %5d  %-28s seed %-4d try %d  %s", number, p.line.Scenario, p.line.Seed, p.try, c.clock.Since(p.since).Round(time.Second)))
	}
	counts := map[check.Verdict]int{}
	for _, l := range c.progress.Lines {
		if l.Over {
			counts[l.Verdict]++
		}
	}
	done, of := c.progress.count()
	rows = append(rows, fmt.Sprintf("%d of %d runs over: %d pass, %d fail, %d other; about %s left", done, of,
		counts[check.Pass], counts[check.Fail], done-counts[check.Pass]-counts[check.Fail], inMinutes(c.progress.Left(c.cost))))
	for _, row := range rows {
		if runes := []rune(row); len(runes) >= c.width {
			row = string(runes[:c.width-1])
		}
		fmt.Fprintln(c.out, row)
	}
	c.drawn = len(rows)
}

func inMinutes(d time.Duration) string {
	if d < time.Minute {
		return "a minute"
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

func sortedKeys(of map[int]playing) []int {
	out := make([]int, 0, len(of))
	for k := range of {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
