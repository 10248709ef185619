package conformance

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/console"
)

// refreshEvery is how often the table in a terminal is drawn again.
const refreshEvery = time.Second

// Console shows a campaign: a line for each run that ends, and in a terminal below them a
// table of the runs that are played now and of what is left.
type Console struct {
	out   io.Writer
	clock clock.WithTicker
	// cost is about how long a run of a scenario takes.
	cost func(scenario string) time.Duration
	// size of the terminal now, in columns and rows; nil where there is none.
	size func() (width, height int)

	mu       sync.Mutex
	progress Progress
	playing  map[int]playing
	// drawn are the rows of the table that are on the screen.
	drawn         []string
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
		c.size = func() (int, int) {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0, 0 // it is gone, and rows of any length do no harm
			}
			return width, height
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
	if done == of {
		c.line(fmt.Sprintf("%d runs, all of them over", of))
	} else {
		c.line(fmt.Sprintf("%d runs, of which %d are over; %d at a time, about %s left", of, done, p.Parallel, inMinutes(p.Left(c.cost))))
	}
	if c.size == nil {
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
			c.show("")
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
	c.stop = nil
	c.show("")
}

// Started implements View.
func (c *Console) Started(line Line, try int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.playing[line.Number] = playing{line, try, c.clock.Now()}
	c.show("")
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

// Paced implements View.
func (c *Console) Paced(parallel int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.progress.Parallel
	c.progress.Parallel = parallel
	if parallel < before {
		c.line(fmt.Sprintf("%d at a time instead of %d: the machine did not give a run what it takes", parallel, before))
		return
	}
	c.line(fmt.Sprintf("%d at a time instead of %d", parallel, before))
}

// Say implements View.
func (c *Console) Say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line(text)
}

// line writes a line above the table.
func (c *Console) line(text string) { c.show(text + "\n") }

// show takes the table off the screen, writes a text and draws the table again below it, all
// at once, so that the table does not flicker.
func (c *Console) show(text string) {
	width, height := 0, 0
	if c.size != nil {
		width, height = c.size()
	}
	var b strings.Builder
	if n := rowsOnScreen(c.drawn, width); n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", n)
	}
	b.WriteString(console.Fit(text, width))
	c.drawn = nil
	if c.stop != nil {
		c.drawn = c.table(width, height)
	}
	for _, row := range c.drawn {
		b.WriteString(row + "\n")
	}
	// What cannot be written has no reader, and the campaign goes on.
	_, _ = io.WriteString(c.out, b.String())
}

// rowsOnScreen is how many rows the table takes in a terminal of that width, which may have
// become narrower since the table was drawn.
func rowsOnScreen(drawn []string, width int) int {
	n := 0
	for _, row := range drawn {
		n++
		if width > 0 {
			n += max(utf8.RuneCountInString(row)-1, 0) / width
		}
	}
	return n
}

const (
	// fixedRows are those of the table beside the runs: an empty one, the headings and the sum.
	fixedRows = 3
	// leastRuns is how many runs the table has room for in the lowest terminal.
	leastRuns = 1
)

// table has the runs that are played now, as many as the terminal is high, and what is left.
func (c *Console) table(width, height int) []string {
	rows := []string{"", fmt.Sprintf("%6s  %-28s %8s %4s %8s %8s", "LINE", "SCENARIO", "SEED", "TRY", "TIME", "OF ABOUT")}
	numbers := sortedKeys(c.playing)
	hidden := 0
	if most := max(height-fixedRows-1, leastRuns); height > 0 && len(numbers) > most {
		// One row says how many others there are.
		hidden = len(numbers) - max(most-1, leastRuns)
		numbers = numbers[:len(numbers)-hidden]
	}
	for _, number := range numbers {
		p := c.playing[number]
		rows = append(rows, fmt.Sprintf("%6d  %-28s %8d %4d %8s %8s", number, p.line.Scenario, p.line.Seed, p.try,
			c.clock.Since(p.since).Round(time.Second), c.progress.Expected(p.line.Scenario, c.cost).Round(time.Second)))
	}
	if hidden > 0 {
		rows = append(rows, fmt.Sprintf("        and %d more", hidden))
	}
	rows = append(rows, c.sum())
	for i, row := range rows {
		if runes := []rune(row); width > 0 && len(runes) >= width {
			rows[i] = string(runes[:width-1])
		}
	}
	return rows
}

// sum says how far the campaign is, the most important first: a narrow terminal shows less.
func (c *Console) sum() string {
	done, of := c.progress.count()
	counts := map[check.Verdict]int{}
	refused := 0
	for _, l := range c.progress.Lines {
		switch {
		case !l.Over:
		case l.Refused:
			refused++
		default:
			counts[l.Verdict]++
		}
	}
	text := fmt.Sprintf("%d of %d runs: %d pass", done, of, counts[check.Pass])
	open := done - refused - counts[check.Pass] - counts[check.Fail]
	for _, more := range []struct {
		n    int
		what string
	}{{counts[check.Fail], "fail"}, {open, "open"}, {refused, "refused"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	return fmt.Sprintf("%s; %d at a time, about %s left", text, c.progress.Parallel, inMinutes(c.progress.Left(c.cost)))
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
