package check

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// endless is a run of any length: three members that host sixty resources take
// traffic, and one after the other is replaced by the other release.
type endless struct {
	out      *json.Encoder
	seq, now int64
	revision int64
	length   int64
	release  [3]int
	instance [3]int
	// outcome of each object's agreement, and since when.
	outcome [benchObjects]string
	since   [benchObjects]time.Time
}

var benchMembers = [3]string{"cp1", "cp2", "cp3"}

const (
	benchObjects         = 60
	group                = "g.io"
	v1                   = "g.io/v1"
	v2                   = "g.io/v2"
	identityLeasePrefix  = fact.IdentityLeasePrefix
	storageVersionPrefix = fact.StorageVersionPrefix
	conditionType        = "AllEncodingVersionsEqual"
)

func benchHeader() history.Header {
	h := history.Header{Format: history.Format, Version: history.Version, Started: started, Writes: []history.WrittenResource{
		{Group: group, Resource: "r0", Kind: "Thing"}, {Group: group, Resource: "r1", Kind: "Other"},
	}}
	for _, m := range benchMembers {
		h.Members = append(h.Members, history.MemberHeader{Name: m, ServerID: "id" + m})
	}
	return h
}

// writeEndless writes a history of about that many events, all of whose
// promises are kept.
func writeEndless(path string, length int64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	e := &endless{out: json.NewEncoder(buffered), length: length}
	if err := e.out.Encode(benchHeader()); err != nil {
		return err
	}
	for i := range benchMembers {
		e.boot(i, i == 2)
	}
	for turn := 0; e.seq < length; turn++ {
		e.hold()
		i := turn % 3
		e.release[i] = 1 - e.release[i]
		e.process(i, history.ProcessExited)
		e.boot(i, true)
	}
	e.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return errors.Join(buffered.Flush(), file.Close())
}

func (e *endless) emit(ev history.Event) {
	e.seq++
	e.now += int64(100 * time.Microsecond)
	ev.Seq, ev.At = e.seq, e.now
	if err := e.out.Encode(ev); err != nil {
		panic(err) // the disk is full
	}
}

func (e *endless) stored(s history.Stored) {
	e.revision++
	s.Type, s.Revision = history.StoredPut, e.revision
	e.emit(history.Event{Kind: history.KindStored, Stored: &s})
}

func (e *endless) process(i int, change string) {
	e.emit(history.Event{Kind: history.KindProcess, Member: benchMembers[i], Process: &history.Process{
		Component: history.ComponentAPIServer, Change: change, Expected: true, Instance: e.instance[i]}})
}

func (e *endless) boot(i int, all bool) {
	e.instance[i]++
	e.process(i, history.ProcessStarted)
	e.lease(i)
	for n := range 20 {
		e.request(i, n, 503, e.seq)
	}
	e.now += int64(time.Second)
	for n := range benchObjects {
		if n == 0 || e.instance[i] == 1 {
			e.version(n, i, all)
		}
	}
	e.emit(history.Event{Kind: history.KindReady, Member: benchMembers[i], From: e.now, Ready: &history.Ready{Code: 200, Revision: e.revision}})
	e.look(i)
}

// lease makes or renews; the first revision of each is its member's number.
func (e *endless) lease(i int) {
	s := history.Stored{Key: identityLeasePrefix + "id" + benchMembers[i], Created: 1, Lease: &history.Lease{Identity: true}}
	if e.instance[i] == 1 {
		s.Created = e.revision + 1
	}
	e.stored(s)
}

func (e *endless) encoding(n, i int) string {
	if n == 0 && e.release[i] == 1 {
		return v2
	}
	return v1
}

func (e *endless) version(n, upTo int, all bool) {
	if all {
		upTo = 2
	}
	sv := &history.StorageVersion{}
	for i := range upTo + 1 {
		sv.Entries = append(sv.Entries, history.Entry{ServerID: "id" + benchMembers[i], Encoding: e.encoding(n, i), Decodable: []string{v1, v2}, Served: []string{v1, v2}})
	}
	c := history.Condition{Type: conditionType, Status: "False", Reason: "r", Message: "m"}
	outcome := "none"
	if value, equal := fact.Agreed(sv.Entries); equal {
		sv.Common, c.Status, outcome = &value, "True", value
	}
	if outcome != e.outcome[n] {
		e.outcome[n], e.since[n] = outcome, started.Add(time.Duration(e.now)).Truncate(time.Second)
	}
	c.Transition = e.since[n]
	sv.Conditions = []history.Condition{c}
	name := fmt.Sprint("g.io.r", n)
	e.stored(history.Stored{Key: storageVersionPrefix + name, Name: name, StorageVersion: sv})
}

func (e *endless) look(i int) {
	d := history.HostedResources{Revision: e.revision}
	for n := range benchObjects {
		d.Resources = append(d.Resources, history.HostedResource{Group: group, Resource: fmt.Sprint("r", n), Kind: kindOf(n), Served: []string{v1, v2}, Persisted: true})
	}
	e.emit(history.Event{Kind: history.KindHostedResources, Member: benchMembers[i], From: e.now, HostedResources: &d})
}

func kindOf(n int) string {
	switch n {
	case 0:
		return "Thing"
	case 1:
		return "Other"
	}
	return "Kind" + strconv.Itoa(n)
}

func (e *endless) request(i, n, code int, write int64) {
	r := history.Request{Class: history.ClassGuarded, Verb: "update", Group: group, Version: "v1", Resource: fmt.Sprint("r", n%2), Name: "default/some-object-" + strconv.Itoa(n%12), Code: code, Write: write}
	if code == 200 {
		r.ResourceVersion = e.revision
	} else {
		r.Barrier, r.Message = true, "wait for storage version registration to complete"
	}
	e.emit(history.Event{Kind: history.KindRequest, Member: benchMembers[i], From: e.now, Request: &r})
}

// hold is two thousand events of traffic.
func (e *endless) hold() {
	h := history.Hold{Name: "h", Phase: history.PhaseBegin, Revision: e.revision, Releases: map[string]string{"cp1": "1", "cp2": "1", "cp3": "1"}}
	e.emit(history.Event{Kind: history.KindHold, Hold: &h})
	for n := range 950 {
		i, write := n%3, e.seq
		e.stored(history.Stored{Key: "/registry/g.io/things/default/some-object-" + strconv.Itoa(n%12), Name: "default/some-object-" + strconv.Itoa(n%12), Created: 1,
			APIVersion: e.encoding(n%2, i), ObjectKind: kindOf(n % 2), Writer: benchMembers[i], Write: write})
		e.request(i, n, 200, write)
		if n%100 == 0 {
			e.emit(history.Event{Kind: history.KindReady, Member: benchMembers[i], From: e.now, Ready: &history.Ready{Code: 200}})
			e.lease(i)
		}
	}
	for i := range benchMembers {
		e.look(i)
	}
	h.Phase, h.Revision = history.PhaseEnd, e.revision
	e.emit(history.Event{Kind: history.KindHold, Hold: &h})
}

// BenchmarkJudge reads and judges histories of growing length by all laws:
// the time must grow with the length, and the memory must not.
func BenchmarkJudge(b *testing.B) {
	for _, length := range []int64{1e4, 1e5, 1e6} {
		b.Run(strconv.FormatInt(length, 10), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "history.jsonl")
			if err := writeEndless(path, length); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var events, peak int64
			for b.Loop() {
				j, p := judgePath(b, path)
				events, peak = events+j.Events, max(peak, p)
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
		})
	}
}

// BenchmarkRead is the part of it that reading takes.
func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "history.jsonl")
	if err := writeEndless(path, 1e5); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var events int64
	for b.Loop() {
		reader := open(b, path)
		for {
			if _, err := reader.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			events++
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

func open(t testing.TB, path string) *history.Reader {
	t.Helper()
	reader, err := history.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	return reader
}

// judgePath judges a file by all laws, and gives the highest amount of heap
// that was in use meanwhile, garbage included.
func judgePath(t testing.TB, path string) (*Judgement, int64) {
	t.Helper()
	events := &sampled{Events: Read(open(t, path)), sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
	runtime.GC()
	j, err := Judge(events, requirement.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range j.Results {
		if r.Verdict == Fail {
			t.Fatalf("%s: %v", r.ID, r.Violations[0])
		}
	}
	return j, events.peak
}

type sampled struct {
	Events
	sample []metrics.Sample
	n      int
	peak   int64
}

func (s *sampled) Next() (*history.Event, error) {
	if s.n++; s.n%1000 == 0 {
		metrics.Read(s.sample)
		//nolint:gosec // G115: a heap has fewer than 2^63 bytes.
		s.peak = max(s.peak, int64(s.sample[0].Value.Uint64()))
	}
	return s.Events.Next()
}

// heapInUse is how many bytes of heap are in use. One collection leaves what has a finalizer
// and what lay in a pool, files and buffers of earlier tests, to a later one.
func heapInUse() int64 {
	var m runtime.MemStats
	for in := uint64(math.MaxUint64); ; in = m.HeapAlloc {
		runtime.GC()
		runtime.ReadMemStats(&m)
		if m.HeapAlloc >= in {
			return int64(in) //nolint:gosec // G115: a heap has fewer than 2^63 bytes.
		}
	}
}

// bytesPerEvent is how much memory a judge of all requirements may keep of each event: laws
// are weighed over facts of the whole history, a history of a million events has to be judged
// within 1 GiB, and the heap grows to twice what is kept before garbage is collected.
const bytesPerEvent = 512

func TestJudge_MemoryGrowsByAtMostTheStatedBytesPerEvent(t *testing.T) {
	kept := func(length int64) int64 {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		if err := writeEndless(path, length); err != nil {
			t.Fatal(err)
		}
		reader := open(t, path)
		before := heapInUse()
		judging := Begin(reader.Header, requirement.All())
		for {
			ev, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			judging.Take(ev)
		}
		after := heapInUse()
		runtime.KeepAlive(judging)
		return after - before
	}
	short, long := int64(2e4), int64(1e5)
	if grown := (kept(long) - kept(short)) / (long - short); grown > bytesPerEvent {
		t.Errorf("%d bytes are kept of each event, and at most %d may be", grown, bytesPerEvent)
	} else {
		t.Logf("%d bytes are kept of each event", grown)
	}
}
