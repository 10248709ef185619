package history

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

func record(t testing.TB, events ...Event) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := Create(path, Header{Run: "r1", Harness: "test", Members: []MemberHeader{{Name: "cp1"}}}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		w.Record(e)
	}
	if err := w.Close(End{Complete: true}); err != nil {
		t.Fatal(err)
	}
	return path
}

func readAll(t testing.TB, in io.Reader) (*Reader, []*Event) {
	t.Helper()
	r, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	var events []*Event
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r, events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

func TestWriterNumbersAndTimesEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	clk := testclock.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	w, err := Create(path, Header{Run: "r1", Members: []MemberHeader{{Name: "cp1"}}}, clk)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{Source: "etcd", Message: "<a> & b"}})
	clk.Step(1500 * time.Millisecond)
	w.Record(Event{Kind: KindReady, Member: "cp1", From: int64(time.Second), Ready: &Ready{Code: 200, Revision: 1 << 60}})
	if err := w.Close(End{Complete: true, Message: "done"}); err != nil {
		t.Fatal(err)
	}
	w.Record(Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{}}) // dropped: after the end
	if err := w.Close(End{}); err != nil {
		t.Fatal(err)
	}

	r, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if r.Header.Run != "r1" || !r.Header.Started.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("header %+v", r.Header)
	}
	if got := w.Header(); got.Format != Format || !got.Started.Equal(r.Header.Started) {
		t.Errorf("the writer says that it has written %+v", got)
	}
	first, _ := r.Next()
	second, _ := r.Next()
	last, _ := r.Next()
	if first.Seq != 1 || first.At != 0 || first.RecorderMissed.Message != "<a> & b" {
		t.Errorf("first event %+v", first)
	}
	if second.Seq != 2 || second.At != int64(1500*time.Millisecond) || second.Ready.Revision != 1<<60 {
		t.Errorf("second event %+v", second)
	}
	if last.Kind != KindEnd || last.End.Message != "done" {
		t.Errorf("last event %+v", last)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) || len(r.Damage) != 0 {
		t.Errorf("after the end: %v, damage %q", err, r.Damage)
	}
}

// setClock is a clock that was set: what it shows is off, and how long it goes is not.
type setClock struct {
	*testclock.FakeClock
	off atomic.Int64
}

func (c *setClock) Now() time.Time { return c.FakeClock.Now().Add(time.Duration(c.off.Load())) }

func TestAClockThatIsSetLeavesAGap(t *testing.T) {
	for off, gaps := range map[time.Duration]int{0: 0, ClockStep: 0, time.Minute: 1, -time.Minute: 1} {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		clk := &setClock{FakeClock: testclock.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
		w, err := Create(path, Header{Run: "r1", Members: []MemberHeader{{Name: "cp1"}}}, clk)
		if err != nil {
			t.Fatal(err)
		}
		clk.Step(time.Hour)
		clk.off.Store(int64(off))
		w.Record(Event{Kind: KindReady, Member: "cp1", Ready: &Ready{Code: 200}})
		if err := w.Close(End{Complete: true}); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, events := readAll(t, bytes.NewReader(raw))
		found := 0
		for _, e := range events {
			if e.RecorderMissed != nil && e.RecorderMissed.Source == "clock" {
				found++
			}
		}
		if found != gaps || len(r.Damage) > 0 {
			t.Errorf("set by %s: %d gaps, damage %q", off, found, r.Damage)
		}
	}
}

func TestWriterFromManyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := Create(path, Header{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	var seen []int64
	w.Subscribe(func(e Event) { seen = append(seen, e.Seq) })
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 500 {
				w.Record(Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{Source: "etcd", Message: strings.Repeat("x", i)}})
			}
		})
	}
	group.Wait()
	if err := w.Close(End{Complete: true}); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(path)
	r, events := readAll(t, bytes.NewReader(raw))
	if len(events) != 4001 || len(r.Damage) != 0 || len(seen) != 4001 {
		t.Fatalf("%d events, %d delivered, damage %q", len(events), len(seen), r.Damage)
	}
	for i := range events {
		if seen[i] != int64(i+1) || (i > 0 && events[i].At < events[i-1].At) {
			t.Fatalf("event %d is out of order", i)
		}
	}
}

func TestWriterReachesTheFileWithoutClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := Create(path, Header{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(End{}) }()
	flushed := make(chan struct{})
	w.Subscribe(func(e Event) {
		if e.Seq == 1 {
			close(flushed)
		}
	})
	w.Record(Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{Source: "etcd"}})
	<-flushed
	raw, _ := os.ReadFile(path)
	if r, events := readAll(t, bytes.NewReader(raw)); len(events) != 1 || len(r.Damage) != 1 {
		t.Errorf("%d events, damage %q", len(events), r.Damage)
	}
}

func TestWriterStopsAtTheFirstError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := Create(path, Header{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.file.Close() // the next write fails
	w.Record(Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{}})
	<-w.Failed()
	if w.Err() == nil || w.Close(End{}) == nil {
		t.Error("the failure was not reported")
	}
	if _, err := Create(path, Header{}, clock.RealClock{}); err == nil {
		t.Error("an existing history was overwritten")
	}
	if got := writeError("h", fmt.Errorf("write: %w", syscall.ENOSPC)).Error(); !strings.Contains(got, "disk is full") {
		t.Errorf("error of a full disk: %s", got)
	}
}

func TestReaderReportsDamage(t *testing.T) {
	gap := Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{Source: "etcd", Message: "m"}}
	raw, err := os.ReadFile(record(t, gap, gap, gap))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
	join := func(parts ...string) string { return strings.Join(parts, "") }
	zip := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, s)
		_ = z.Close()
		return b.String()
	}
	for _, test := range []struct {
		name, in string
		events   int
		damage   []string
	}{
		{"whole", string(raw), 4, nil},
		{"compressed", zip(string(raw)), 4, nil},
		{"cut in a line", join(lines[0], lines[1], lines[2][:9]), 1, []string{"line 3) is cut off", "no end event"}},
		{"cut between lines", join(lines[:4]...), 3, []string{"no end event"}},
		{"only the end of the last line is missing", join(lines...), 4, nil},
		{"one line missing", join(lines[0], lines[2], lines[3], lines[4]), 3, []string{"Event 1 is missing before line 2"}},
		{"two lines missing", join(lines[0], lines[1], lines[4]), 2, []string{"Events 2 to 3 are missing"}},
		{"not JSON", join(lines[0], lines[1], "oops\n", lines[3], lines[4]), 3, []string{"Line 3 is no event", "Event 2 is missing"}},
		{"no number", join(lines[0], "{}\n", lines[1], lines[2], lines[3], lines[4]), 4, []string{"no sequence number"}},
		{"empty line", join(lines[0], "\n", lines[1], lines[2], lines[3], lines[4]), 4, []string{"Line 2 is empty"}},
		{"swapped", join(lines[0], lines[2], lines[1], lines[3], lines[4]), 3, []string{"Event 1 is missing", "not in the order"}},
		{"after the end", join(string(raw), strings.Replace(lines[3], `"seq":3`, `"seq":5`, 1)), 4, []string{"after the end event"}},
		{"compressed and cut", zip(string(raw))[:len(zip(string(raw)))-12], -1, []string{"cannot be read any further"}},
		{"content lost", join(lines[0], lines[1], `{"seq":2,"at":0,"kind":"recorderMissed"}`+"\n", lines[3], lines[4]), 3, []string{`Line 3 has the kind "recorderMissed" without its content`}},
		{"unknown kind", join(lines[0], lines[1], strings.Replace(lines[2], `"kind":"recorderMissed"`, `"kind":"leap"`, 1), lines[3], lines[4]), 3, []string{`Line 3 has the kind "leap"`}},
		{"header only", lines[0], 0, []string{"no end event"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, events := readAll(t, strings.NewReader(test.in))
			if test.events >= 0 && len(events) != test.events {
				t.Errorf("%d events, want %d", len(events), test.events)
			}
			got := strings.Join(r.Damage, "\n")
			if test.damage == nil && got != "" {
				t.Errorf("unexpected damage: %s", got)
			}
			for _, want := range test.damage {
				if !strings.Contains(got, want) {
					t.Errorf("damage %q lacks %q", got, want)
				}
			}
			before := len(r.Damage)
			if _, err := r.Next(); !errors.Is(err, io.EOF) || len(r.Damage) != before {
				t.Error("a second end differs from the first")
			}
		})
	}
}

func TestReaderRefusesOtherFiles(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"empty", "", "empty"},
		{"text", "hello\n", "not the header"},
		{"other format", `{"format":"x","version":1}` + "\n", `"x"`},
		{"later version", `{"format":"evenkeel-history","version":99,"harness":"v9"}` + "\n", "version 99"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := NewReader(strings.NewReader(test.in)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func BenchmarkReader(b *testing.B) {
	var raw bytes.Buffer
	raw.WriteString(`{"format":"evenkeel-history","version":2,"members":[{"name":"cp1"}]}` + "\n")
	for i := range 100000 {
		fmt.Fprintf(&raw, `{"seq":%d,"at":%d,"from":%d,"kind":"request","member":"cp1","request":{"class":"guarded","verb":"update","group":"reference.evenkeel.dev","version":"v1beta1","resource":"ballasts","name":"default/run-cp1-3","code":200,"rv":%d,"write":%d}}`+"\n", 2*i+1, i*1000, i*900, i, i)
		fmt.Fprintf(&raw, `{"seq":%d,"at":%d,"kind":"stored","stored":{"type":"put","key":"/registry/reference.evenkeel.dev/ballasts/default/run-cp1-3","revision":%d,"created":12,"apiVersion":"reference.evenkeel.dev/v1beta1","objectKind":"Ballast","name":"default/run-cp1-3","writer":"cp1","write":%d}}`+"\n", 2*i+2, i*1000, i, i)
	}
	b.SetBytes(int64(raw.Len()))
	for b.Loop() {
		if _, events := readAll(b, bytes.NewReader(raw.Bytes())); len(events) != 200000 {
			b.Fatal(len(events))
		}
	}
}

func TestDigestIsThatOfThePlainText(t *testing.T) {
	raw, err := os.ReadFile(record(t, Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{Source: "etcd", Message: strings.Repeat("long ", readBuffer/4)}}))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	want := hex.EncodeToString(sum[:])
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(raw)
	_ = z.Close()
	for name, in := range map[string][]byte{"plain": raw, "compressed": zipped.Bytes()} {
		r, _ := readAll(t, bytes.NewReader(in))
		if got := r.Digest(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if r, _ := readAll(t, bytes.NewReader(raw[:len(raw)-1])); r.Digest() == want {
		t.Error("a byte less gives the same digest")
	}
}

// An interruption is noticed at any event, and is no damage.
func TestReader_EndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Open(ctx, record(t, Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{Source: "etcd"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Next(); err == nil || errors.Is(err, io.EOF) || len(r.Damage) > 0 {
		t.Errorf("after the context has ended: %v, damage %q", err, r.Damage)
	}
}
