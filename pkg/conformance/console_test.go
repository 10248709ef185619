package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/pkg/check"
)

// terminal understands what the console writes: lines, and the sequence that goes up and
// erases what is below.
type terminal struct {
	width, height int
	rows          []string
	writes        int
}

func (s *terminal) Write(p []byte) (int, error) {
	s.writes++
	text := string(p)
	if rest, found := strings.CutPrefix(text, "\x1b["); found {
		up := 0
		if _, err := fmt.Sscanf(rest, "%dA", &up); err != nil {
			return 0, err
		}
		_, text, _ = strings.Cut(rest, "\x1b[J")
		if up > len(s.rows) || up >= s.height {
			return 0, fmt.Errorf("it goes %d rows up, and there are %d on a screen of %d", up, len(s.rows), s.height)
		}
		s.rows = s.rows[:len(s.rows)-up]
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for utf8.RuneCountInString(line) > s.width {
			runes := []rune(line)
			s.rows, line = append(s.rows, string(runes[:s.width])), string(runes[s.width:])
		}
		s.rows = append(s.rows, line)
	}
	return len(p), nil
}

// resize folds what is on the screen anew, as terminals do.
func (s *terminal) resize(width int) {
	rows := s.rows
	s.width, s.rows = width, nil
	for _, row := range rows {
		if _, err := s.Write([]byte(row + "\n")); err != nil {
			panic(err)
		}
	}
}

func onTerminal(width, height, lines int) (*Console, *terminal, *testingclock.FakeClock) {
	s := &terminal{width: width, height: height}
	clk := testingclock.NewFakeClock(time.Unix(0, 0))
	c := NewConsole(s, clk, func(string) time.Duration { return 2 * time.Minute })
	c.size = func() (int, int) { return s.width, s.height }
	p := Progress{Parallel: 2}
	for i := range lines {
		p.Lines = append(p.Lines, LineProgress{Line: Line{Number: i + 1, Scenario: "election-uncoordinated", Seed: int64(483920 + i)}})
	}
	c.Begin(p)
	return c, s, clk
}

const long = "SV-06: the agreed storage version of apps.deployments was v1beta1 while a server that takes part could not decode it for 12.4s after its peer had been upgraded"

func TestConsole_FitsTheTerminal(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		c, s, _ := onTerminal(width, 24, 5)
		line := func(n int) Line { return c.progress.Lines[n-1].Line }
		c.Started(line(1), 1)
		c.Started(line(2), 1)
		c.Ended(line(1), Ended{Line: 1, Try: 1, Seconds: 90}, Told{string(check.Fail), long}, false)
		c.Started(line(3), 1)
		c.Ended(line(2), Ended{Line: 2, Try: 1, Seconds: 60}, Told{string(check.Inconclusive), "CLE-11 inconclusive: too little was seen"}, true)
		for _, row := range s.rows {
			if n := utf8.RuneCountInString(row); n > width || n == width && strings.Contains(row, "runs: ") {
				t.Errorf("%d columns: a row has %d: %q", width, n, row)
			}
		}
		words := strings.Join(strings.Fields(strings.Join(s.rows, " ")), " ")
		for _, want := range []string{long, "[1/5] line 1, election-uncoordinated, seed 483920: fail after 90 s", "and is tried again"} {
			if !strings.Contains(words, want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, strings.Join(s.rows, "\n"))
			}
		}
		last := s.rows[len(s.rows)-1]
		if !strings.HasPrefix(last, "1 of 5 runs: 0 pass, 1 fail") {
			t.Errorf("%d columns: the last row is %q", width, last)
		}
		c.End()
		if last := s.rows[len(s.rows)-1]; strings.Contains(last, "runs:") {
			t.Errorf("%d columns: the table is still there: %q", width, last)
		}
	}
}

// The table of a terminal that becomes narrower takes more rows than it had.
func TestConsole_ErasesTheTableAfterATerminalBecameNarrower(t *testing.T) {
	c, s, _ := onTerminal(80, 24, 5)
	c.Started(c.progress.Lines[0].Line, 1)
	s.resize(30)
	c.Started(c.progress.Lines[1].Line, 1)
	if n := strings.Count(strings.Join(s.rows, "\n"), "LINE"); n != 1 {
		t.Errorf("there are %d tables:\n%s", n, strings.Join(s.rows, "\n"))
	}
	c.End()
}

// More runs than the terminal has rows leave the table on the screen.
func TestConsole_FitsTheHeight(t *testing.T) {
	for _, height := range []int{6, 10} {
		c, s, _ := onTerminal(80, height, 30)
		for _, l := range c.progress.Lines {
			c.Started(l.Line, 1)
		}
		table := c.table(80, height)
		if len(table) >= height || !strings.Contains(strings.Join(table, "\n"), " more") {
			t.Errorf("on %d rows: %d\n%s", height, len(table), strings.Join(table, "\n"))
		}
		if writes := s.writes; writes != 31 {
			t.Errorf("%d writes for 31 changes: the table flickers", writes)
		}
		c.End()
	}
}

func TestConsole_SaysHowLongARunTakes(t *testing.T) {
	c, s, clk := onTerminal(80, 24, 3)
	c.Started(c.progress.Lines[0].Line, 1)
	c.Ended(c.progress.Lines[0].Line, Ended{Line: 1, Try: 1, Seconds: 60}, Told{Verdict: string(check.Pass)}, false)
	c.Started(c.progress.Lines[1].Line, 1)
	clk.Step(45 * time.Second)
	c.Say("the clock has gone on")
	c.mu.Lock() // the table is drawn again by the clock, too
	row := s.rows[len(s.rows)-2]
	c.mu.Unlock()
	if got := strings.Fields(row); len(got) != 6 || got[4] != "45s" || got[5] != "1m0s" {
		t.Errorf("the row is %q", row)
	}
	c.End()
}
